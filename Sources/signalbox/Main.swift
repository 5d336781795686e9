@main struct Main { static func main() { print("signalbox") } }
