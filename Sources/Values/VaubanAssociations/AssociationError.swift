/// Why an association file is refused. The fault is the website's. The raw value is the failure in the vectors.
package enum AssociationError: String, Error, Hashable, Sendable {
    case size
    case signed
    case json
    case object
    case section
    case apps
    case name
    case count
    case details
    case paths

    /// The rest of a sentence about the site.
    package var sentence: String {
        switch self {
        case .size: "its association file is larger than \(AssociationFile.bytesMax / 1024) KiB"
        case .signed: "its association file is signed; plain JSON is expected"
        case .json: "its association file is not strict JSON"
        case .object: "its association file is not a JSON object"
        case .section: "a section of its association file is not an object"
        case .apps: "a list of applications in its association file is not an array of strings"
        case .name: "its association file names an application that is not TEAM.bundle"
        case .count: "its association file lists more than \(AssociationFile.applicationsMax) applications"
        case .details: "the details of its universal links are neither an array nor a dictionary of applications"
        case .paths: "the paths of its universal links are not an array of strings"
        }
    }
}
