/// The texts of the chat, by the keys of the chat element's table, which has them in each language. ``ChatWords`` writes
/// them. After a change run `node scripts/parts/write-texts.mjs`.
public enum ChatWord: String, CaseIterable, Sendable {
    case messages, placeholder, send, you, guest, server

    // The state of the connection
    case connecting, reconnecting, tryAgain, expired, refused, wrongChat, full, unreachable, comesBack, removed

    // Why the user cannot write
    case muted, mutedUntil, frozen, frozenUntil, banned, bannedUntil, withReason

    // The messages
    case today, yesterday, newMessagesBelow, newMessages, beginning, gap, erased, noMessages, fromNowOn, showEarlier
    case loadingEarlier

    // The state of a message
    case stateSending, stateFailed, failedTooLarge, failedTooFast, failedNotAllowed, failedRestricted, failedLost
    case failedOther, notSaved, discard

    // Messages that change
    case edited, edit, reply, editing, save, saving, cancel, askDeleteOwn, explainDeleteOwn
    case replyTo, replyToOwn, endReply, earlierMessage, quoteGone
    case changeRefused, changeOffline, changeTooFast, changeBlank, editLost

    // Reactions and receipts
    case react, reacted, reactedToo, seen, seenBy

    // The draft
    case tooLarge, tooManyWaiting
    /// Messages of the outbox could not be read.
    case damaged

    // Users who type
    case typingSomeone, typingNames, typingPeople, typingSeveral, others

    // Marks beside names
    case guestMark, guestMarkHelp, numberHelp, guestNamed

    // Moderators
    case deleteMessage, deleteAll, mute, muteForever, remove, ban, tenMinutes, oneHour
    case askDelete, askDeleteAll, askMute, askMuteForever, askRemove, askBan
    case explainDelete, explainMute, explainRemove, explainBan, explainBanGuest
    case doDelete, doMute, doRemove, doBan, actionTooLate, actionFailed
}
