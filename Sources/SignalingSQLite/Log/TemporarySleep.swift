import SignalingCore
import SignalingProtocol

extension SQLiteCommandLog: LocalCommandLog {
    public var sleeperCount: Int { 0 }
    public func sleep(_ snapshot: CommandSnapshot) { remove(snapshot.session, through: snapshot.position) }
    public func wake(_ session: SessionID, answer: @escaping (KeptCommands.Session?) -> Void) { answer(nil) }
    public func forgetSleepers(_ sessions: [SessionID]) {}
}
