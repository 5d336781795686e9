/// Finds the name that a user may have meant.
enum NearestName {
    /// The known name with the fewest edits from `name`, ignoring case; nil when all are too different.
    static func of(_ name: String, among known: [String]) -> String? {
        let nearest = known.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(2, name.count / 3) else { return nil }
        return nearest.name
    }

    /// The Levenshtein distance: how many characters to insert, delete or replace.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (right[column] == character ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
