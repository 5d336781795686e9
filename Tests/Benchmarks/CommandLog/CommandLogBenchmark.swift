@main
struct CommandLogBenchmark {
    static func main() {}
}
