// The values of the attributes of Internet passwords. Each is a code of four characters; the shorter
// ones end in a space.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Values of `kSecAttrProtocol`.

/// FTP.
nonisolated(unsafe) public let kSecAttrProtocolFTP: CFString = "ftp "

/// A client's FTP account.
nonisolated(unsafe) public let kSecAttrProtocolFTPAccount: CFString = "ftpa"

/// HTTP.
nonisolated(unsafe) public let kSecAttrProtocolHTTP: CFString = "http"

/// IRC.
nonisolated(unsafe) public let kSecAttrProtocolIRC: CFString = "irc "

/// NNTP.
nonisolated(unsafe) public let kSecAttrProtocolNNTP: CFString = "nntp"

/// POP3.
nonisolated(unsafe) public let kSecAttrProtocolPOP3: CFString = "pop3"

/// SMTP.
nonisolated(unsafe) public let kSecAttrProtocolSMTP: CFString = "smtp"

/// SOCKS.
nonisolated(unsafe) public let kSecAttrProtocolSOCKS: CFString = "sox "

/// IMAP.
nonisolated(unsafe) public let kSecAttrProtocolIMAP: CFString = "imap"

/// LDAP.
nonisolated(unsafe) public let kSecAttrProtocolLDAP: CFString = "ldap"

/// AFP over AppleTalk.
nonisolated(unsafe) public let kSecAttrProtocolAppleTalk: CFString = "atlk"

/// AFP over TCP.
nonisolated(unsafe) public let kSecAttrProtocolAFP: CFString = "afp "

/// Telnet.
nonisolated(unsafe) public let kSecAttrProtocolTelnet: CFString = "teln"

/// SSH.
nonisolated(unsafe) public let kSecAttrProtocolSSH: CFString = "ssh "

/// FTP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolFTPS: CFString = "ftps"

/// HTTP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolHTTPS: CFString = "htps"

/// A proxy for HTTP.
nonisolated(unsafe) public let kSecAttrProtocolHTTPProxy: CFString = "htpx"

/// A proxy for HTTP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolHTTPSProxy: CFString = "htsx"

/// A proxy for FTP.
nonisolated(unsafe) public let kSecAttrProtocolFTPProxy: CFString = "ftpx"

/// SMB.
nonisolated(unsafe) public let kSecAttrProtocolSMB: CFString = "smb "

/// RTSP.
nonisolated(unsafe) public let kSecAttrProtocolRTSP: CFString = "rtsp"

/// A proxy for RTSP.
nonisolated(unsafe) public let kSecAttrProtocolRTSPProxy: CFString = "rtsx"

/// DAAP, the protocol of shared music.
nonisolated(unsafe) public let kSecAttrProtocolDAAP: CFString = "daap"

/// Remote Apple events.
nonisolated(unsafe) public let kSecAttrProtocolEPPC: CFString = "eppc"

/// IPP, the protocol of printers.
nonisolated(unsafe) public let kSecAttrProtocolIPP: CFString = "ipp "

/// NNTP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolNNTPS: CFString = "ntps"

/// LDAP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolLDAPS: CFString = "ldps"

/// Telnet over TLS.
nonisolated(unsafe) public let kSecAttrProtocolTelnetS: CFString = "tels"

/// IMAP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolIMAPS: CFString = "imps"

/// IRC over TLS.
nonisolated(unsafe) public let kSecAttrProtocolIRCS: CFString = "ircs"

/// POP3 over TLS.
nonisolated(unsafe) public let kSecAttrProtocolPOP3S: CFString = "pops"

// MARK: Values of `kSecAttrAuthenticationType`.

/// Windows NT LAN Manager.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"

/// Microsoft Network.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeMSN: CFString = "msna"

/// Distributed password authentication.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"

/// Remote password authentication.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"

/// HTTP basic authentication.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"

/// HTTP digest authentication.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"

/// A form on a web page.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"

/// The default of the protocol.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
