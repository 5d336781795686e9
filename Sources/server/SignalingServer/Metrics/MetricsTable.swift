/// All metrics of a server. Their order is that of docs/operations/metrics.md.
public enum MetricsTable {
    static let build = MetricDeclaration(
        .gauge, "build_info", labels: ["version"], "Always 1; the label is the version of the server.")

    static let connections = MetricDeclaration(
        .gauge, "connections", labels: ["state"],
        "Connections: unjoined (a WebSocket without a session), joined, and detached (in a session without a socket).")
    static let connectionsLimit = MetricDeclaration(
        .gauge, "connections_limit", "The number of connections of any kind that the server accepts.")
    static let httpConnections = MetricDeclaration(
        .gauge, "http_connections", "Connections that are not WebSockets, idle ones included.")
    static let sessions = MetricDeclaration(
        .gauge, "sessions", "Sessions that have a connection, or to which a client may come back.")
    static let connects = MetricDeclaration(
        .counter, "connects_total", labels: ["outcome"],
        "Successful connects: new, resumed, recovered or lost.")
    static let connectRefusals = MetricDeclaration(
        .counter, "connect_refusals_total", labels: ["error"], "Connects that were refused, by error.")
    static let refusals = MetricDeclaration(
        .counter, "refusals_total", labels: ["reason"],
        "Connections, requests and joins that the server did not admit, by reason.")
    static let closes = MetricDeclaration(
        .counter, "closes_total", labels: ["reason"], "WebSockets that the server closed, by reason.")

    static let signals = MetricDeclaration(
        .counter, "signals_total", labels: ["sender", "outcome"],
        "Signals of clients and of backends (REST): accepted, or the error.")
    static let onlineOnlyDropped = MetricDeclaration(
        .counter, "online_only_dropped_total", labels: ["reason"], "Online-only signals that were dropped, by reason.")
    static let changes = MetricDeclaration(
        .counter, "changes_total", labels: ["rel"],
        "Changes of kept messages by clients: edit, erase by an author or a moderator, and react.")
    static let readMarkers = MetricDeclaration(
        .counter, "read_markers_total", "Read markers that clients have set.")
    static let moderations = MetricDeclaration(
        .counter, "moderation_actions_total", labels: ["action"],
        "Actions of moderators and of backends (REST), on the server that they were sent to.")
    static let restrictionRefusals = MetricDeclaration(
        .counter, "restriction_refusals_total", labels: ["kind"],
        "Signals and connects that were refused because of a restriction: mute, freeze or ban.")
    static let malformed = MetricDeclaration(
        .counter, "malformed_lines_total", "Lines of clients that are not messages of the protocol.")
    static let deliveries = MetricDeclaration(
        .counter, "deliveries_total", labels: ["kind"],
        "Events of sessions and online-only signals, times the connections that they were sent to.")
    static let ackLatency = MetricDeclaration(
        .histogram(.durations), "ack_latency_seconds",
        "From receiving a signal to writing its acknowledgement. A sample: at most one signal at a time.")
    static let flushSize = MetricDeclaration(
        .histogram(.sizes), "flush_size_bytes", "The size of the events that one flush of a session sends.")
    static let flushDelay = MetricDeclaration(
        .histogram(.durations), "flush_delay_seconds", "How long the oldest event of a flush waited for it.")

    static let receivedMessages = MetricDeclaration(
        .counter, "received_messages_total", "WebSocket messages from clients.")
    static let receivedBytes = MetricDeclaration(
        .counter, "received_bytes_total", "Bytes of WebSocket messages from clients.")
    static let sentMessages = MetricDeclaration(
        .counter, "sent_messages_total", "WebSocket messages to clients.")
    static let sentBytes = MetricDeclaration(
        .counter, "sent_bytes_total", "Bytes of WebSocket messages to clients.")
    static let pauses = MetricDeclaration(
        .counter, "backpressure_pauses_total", "How often the server stopped reading from a client.")
    static let backlogs = MetricDeclaration(
        .counter, "backlogs_total", "How often a socket did not accept a whole write.")

    static let loopBusy = MetricDeclaration(
        .counter, "loop_busy_seconds_total", "The time that the event loop worked. Its rate is the busy share.")
    static let loopTurns = MetricDeclaration(.counter, "loop_turns_total", "Turns of the event loop.")
    static let longestTurn = MetricDeclaration(
        .gauge, "loop_longest_turn_seconds", "The longest turn of the event loop in the last 30 to 60 seconds.")

    static let requests = MetricDeclaration(
        .counter, "rest_requests_total", labels: ["route", "status"], "HTTP requests that were answered.")
    static let requestDuration = MetricDeclaration(
        .histogram(.durations), "rest_request_duration_seconds", labels: ["route"],
        "From a complete HTTP request to its response.")
    static let adminTokenRefusals = MetricDeclaration(
        .counter, "admin_token_refusals_total", labels: ["reason"],
        "Requests to the admin listener that were refused for their token: wrong, or tooMany (wrong ones before it).")

    static let webhookOldest = MetricDeclaration(
        .gauge, "webhook_oldest_event_age_seconds",
        "How long the oldest event has waited for its receiver; 0 without one.")
    static let webhookSent = MetricDeclaration(
        .counter, "webhook_events_sent_total", "Webhook events that a receiver accepted.")
    static let webhookDropped = MetricDeclaration(
        .counter, "webhook_events_dropped_total", labels: ["reason"],
        "Webhook events that a receiver has refused for good.")

    static let feedEvents = MetricDeclaration(
        .counter, "feed_events_total", labels: ["way"],
        "Events of feeds that backends got: pull, their requests; push, batches that a webhook accepted.")
    static let feedGaps = MetricDeclaration(
        .counter, "feed_gaps_total", "How often a webhook receiver was further behind than its feed reaches.")

    static let logHealthy = MetricDeclaration(
        .gauge, "command_log_healthy",
        "1 while the command log keeps commands, 0 while it cannot. Only with stateDir or redis.")
    static let nodes = MetricDeclaration(
        .gauge, "nodes", "The servers on the same Redis that may be alive, with this one. Only with redis.")
    static let logInFlight = MetricDeclaration(
        .gauge, "command_log_in_flight_bytes", "Bytes of commands that the log has not confirmed yet.")
    static let logAppend = MetricDeclaration(
        .histogram(.durations), "command_log_append_latency_seconds",
        "From appending the commands of a turn to their confirmation.")
    static let logSize = MetricDeclaration(
        .gauge, "command_log_size_bytes", labels: ["file"], "The size of the database, and of its write-ahead log.")
    static let snapshotDuration = MetricDeclaration(
        .histogram(.durations), "command_log_snapshot_duration_seconds",
        "From the decision to keep a snapshot of a session to its confirmation.")

    static let historyHealthy = MetricDeclaration(
        .gauge, "history_healthy", "1 while messages can be written to the history, 0 while they cannot.")
    static let historyMessages = MetricDeclaration(
        .gauge, "history_messages", "Messages in the histories of all sessions. Not with redis.")
    static let historyBytes = MetricDeclaration(
        .gauge, "history_size_bytes",
        "What the histories take on the disk or in memory, which historyTotalBytes bounds. Not with redis.")
    static let historyTrimmed = MetricDeclaration(
        .counter, "history_trimmed_total",
        "Old messages that Redis has removed because it uses 70 % of its maxmemory, to have room for messages of this "
            + "server. Only with redis.")
    static let sleepers = MetricDeclaration(
        .gauge, "sessions_asleep", "Sessions that nobody is in, with a history or a restriction. Not with redis.")
    static let historyReads = MetricDeclaration(
        .counter, "history_reads_total", labels: ["outcome"],
        "Pages of history for clients and REST: read, shared (from a read for somebody else), or failed.")

    static let residentMemory = MetricDeclaration(
        .gauge, "process_resident_memory_bytes", "The resident memory of the process.")
    static let openDescriptors = MetricDeclaration(
        .gauge, "process_open_fds", "Open file descriptors of the process.")
    static let maxDescriptors = MetricDeclaration(
        .gauge, "process_max_fds", "The limit of open file descriptors.")
    static let processorTime = MetricDeclaration(
        .counter, "process_cpu_seconds_total", "The processor time of the process, user and system.")
    static let startTime = MetricDeclaration(
        .gauge, "process_start_time_seconds", "When the process started, in seconds since 1970.")

    /// All declarations, in order.
    public static let declarations: [MetricDeclaration] = [
        build, connections, connectionsLimit, httpConnections, sessions, connects, connectRefusals, refusals,
        closes, signals, onlineOnlyDropped, changes, readMarkers, moderations, restrictionRefusals, malformed,
        deliveries,
        ackLatency,
        flushSize,
        flushDelay, receivedMessages, receivedBytes, sentMessages, sentBytes, pauses, backlogs, loopBusy, loopTurns,
        longestTurn, requests,
        requestDuration, adminTokenRefusals, webhookOldest, webhookSent, webhookDropped, feedEvents,
        feedGaps,
        logHealthy,
        nodes, logInFlight,
        logAppend, logSize, snapshotDuration, historyHealthy, historyMessages, historyBytes, historyTrimmed,
        sleepers, historyReads,
        residentMemory,
        openDescriptors, maxDescriptors, processorTime, startTime,
    ]
}
