import SignalingCore
import SignalingTransport

extension Refusal {
    init(_ refusal: JoinControl.Refusal) {
        switch refusal {
        case .project: self = .project
        case .token: self = .token
        }
    }
}
