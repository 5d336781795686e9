@main
struct CommandLogWriter {
    static func main() {}
}
