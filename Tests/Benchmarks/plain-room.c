/* The least that a room server on libwebsockets does, for comparison: plain-room PORT. It speaks ws-room.dialect.
 *
 * It relays each message to all members of the sender's room, in the receive callback, and does nothing else: no JSON,
 * no token, no order, no acknowledgement. What it takes less than Signalbox is what Signalbox does more. */
#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member;
struct room {
    char name[64];
    struct member **members;
    size_t count, capacity;
    struct room *next;
};
struct bytes {
    unsigned char *start; /* with LWS_PRE bytes of headroom */
    size_t count, capacity;
};
struct member {
    struct lws *wsi;
    struct room *room;
    size_t index;
    struct bytes message; /* what has arrived of the present message */
    struct bytes unsent;  /* messages that wait for the socket, each behind its size */
};

static struct room *rooms;

static void append(struct bytes *bytes, const void *added, size_t count) {
    if (bytes->count + count > bytes->capacity) {
        bytes->capacity = 2 * (bytes->count + count);
        bytes->start = realloc(bytes->start, LWS_PRE + bytes->capacity);
        if (!bytes->start) abort();
    }
    memcpy(bytes->start + LWS_PRE + bytes->count, added, count);
    bytes->count += count;
}

static void join(struct member *member, const char *name, size_t length) {
    struct room *room = rooms;
    if (length >= sizeof room->name || member->room) return;
    while (room && (strlen(room->name) != length || memcmp(room->name, name, length))) room = room->next;
    if (!room) {
        room = calloc(1, sizeof *room);
        if (!room) abort();
        memcpy(room->name, name, length);
        room->next = rooms;
        rooms = room;
    }
    if (room->count == room->capacity) {
        room->capacity = room->capacity ? 2 * room->capacity : 4;
        room->members = realloc(room->members, room->capacity * sizeof *room->members);
        if (!room->members) abort();
    }
    member->room = room;
    member->index = room->count;
    room->members[room->count++] = member;
}

static void leave(struct member *member) {
    struct room *room = member->room;
    if (!room) return;
    room->members[member->index] = room->members[--room->count];
    room->members[member->index]->index = member->index;
}

/* lws_write uses the headroom below the payload, and may be called at once while nothing is buffered. */
static void send_to(struct member *member, unsigned char *payload, size_t count) {
    if (!member->unsent.count && !lws_partial_buffered(member->wsi)) {
        lws_write(member->wsi, payload, count, LWS_WRITE_TEXT);
        return;
    }
    append(&member->unsent, &count, sizeof count);
    append(&member->unsent, payload, count);
    lws_callback_on_writable(member->wsi);
}

static void handle(struct member *member) {
    unsigned char *text = member->message.start + LWS_PRE;
    size_t count = member->message.count;
    if (count > 5 && !memcmp(text, "join ", 5)) {
        unsigned char answer[LWS_PRE + 6];
        memcpy(answer + LWS_PRE, "joined", 6);
        join(member, (const char *)text + 5, count - 5);
        send_to(member, answer + LWS_PRE, 6);
    } else if (count > 4 && !memcmp(text, "pub ", 4) && member->room) {
        unsigned char *payload = memchr(text + 4, ' ', count - 4);
        /* The command is longer than a frame's header, so the header does no harm. */
        if (payload++)
            for (size_t at = 0; at < member->room->count; at++)
                send_to(member->room->members[at], payload, (size_t)(text + count - payload));
    }
    member->message.count = 0;
}

static void send_next(struct member *member) {
    size_t count, all = sizeof count;
    if (!member->unsent.count || lws_partial_buffered(member->wsi)) return;
    memcpy(&count, member->unsent.start + LWS_PRE, sizeof count);
    all += count;
    unsigned char *frame = malloc(LWS_PRE + count);
    if (!frame) abort();
    memcpy(frame + LWS_PRE, member->unsent.start + LWS_PRE + sizeof count, count);
    lws_write(member->wsi, frame + LWS_PRE, count, LWS_WRITE_TEXT);
    free(frame);
    member->unsent.count -= all;
    memmove(member->unsent.start + LWS_PRE, member->unsent.start + LWS_PRE + all, member->unsent.count);
    if (member->unsent.count) lws_callback_on_writable(member->wsi);
}

static int called(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count) {
    struct member *member = user;
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
        memset(member, 0, sizeof *member);
        member->wsi = wsi;
        return 0;
    case LWS_CALLBACK_RECEIVE:
        append(&member->message, in, count);
        if (lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi)) handle(member);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        send_next(member);
        return 0;
    case LWS_CALLBACK_CLOSED:
        leave(member);
        free(member->message.start);
        free(member->unsent.start);
        return 0;
    default: return 0;
    }
}

int main(int count, char **arguments) {
    static const struct lws_protocols protocols[] = {{"room", called, sizeof(struct member), 2048, 0, NULL, 0},
                                                     {NULL, NULL, 0, 0, 0, NULL, 0}};
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    if (count != 2) return 64;
    info.port = atoi(arguments[1]);
    info.iface = "lo";
    info.protocols = protocols;
    lws_set_log_level(LLL_ERR, NULL);
    struct lws_context *context = lws_create_context(&info);
    if (!context) return 1;
    while (lws_service(context, 0) >= 0) {}
    lws_context_destroy(context);
    return 0;
}
