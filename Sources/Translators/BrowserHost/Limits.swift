/// The limits of the browser's host.
package enum BrowserLimits {
    /// The newest version of the messages.
    static let messageVersionMax: Int64 = 3
    /// The bytes of one message from the browser.
    package static let messageBytesMax = 1 << 20
    /// The bytes of one message to the browser, which accepts no longer message.
    package static let replyBytesMax = 1 << 20
    /// The part of a message that is allocated before more of it has arrived.
    static let firstBytes = 4096
    /// Requests that are served at once. A further request is refused.
    static let requestsMax = 8
    /// Replies that a browser has not taken yet, each with a thread. Beyond that the next requests are refused, and the first refusal waits
    /// until the browser takes a reply, so that no further request is read.
    static let unansweredMax = 16
    /// Items that are offered for a site.
    static let itemsMax = 50
    /// Items of one name that are examined to find them.
    static let searchedMax = 3000
    /// Items whose names are searched for one-time codes.
    static let namesOfCodesMax = 16
    /// Items of one account that are compared with a typed password.
    static let comparedMax = 8
    /// The characters of an item's name, as the extension shows it.
    static let nameCharactersMax = 120
    /// The characters of an option that selects an item. A longer one is cut, and then selects nothing.
    static let optionCharactersMax = 256
    /// The bytes of a password or code that is filled, and of one that is saved.
    static let secretBytesMax = 16 << 10
    static let accountBytesMax = 1024
    static let originBytesMax = 512
    static let rulesBytesMax = 4096
    /// The largest list of sites with the same accounts, and how many of those count for one page.
    static let sharedSitesBytesMax = 1 << 20
    static let sharedSitesMax = 32
    /// The largest public-suffix list.
    static let suffixesBytesMax = 4 << 20
}
