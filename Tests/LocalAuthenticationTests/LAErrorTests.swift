import LocalAuthentication
import Testing

/// An `LAError` behaves as on Apple's systems, above all when it is cast.
@Suite struct LAErrorTests {
    private let cancelled = NSError(domain: LAErrorDomain, code: -2)
    private let foreign = NSError(domain: NSOSStatusErrorDomain, code: -2)

    // MARK: Making and reading.

    @Test("A code creates an error with its number, domain and user information") func codeCreatesAnError() {
        let error = LAError(.userCancel, userInfo: ["why": "test"])
        #expect(error.code == .userCancel)
        #expect(error.errorCode == -2)
        #expect(error.userInfo["why"] as? String == "test")
        #expect(error.errorUserInfo["why"] as? String == "test")
        #expect(LAError.errorDomain == "com.apple.LocalAuthentication")
        #expect(LAError(_nsError: cancelled).code == .userCancel)
    }

    @Test("An unknown number is a failed authentication") func unknownNumberIsAFailedAuthentication() {
        let error = LAError(_nsError: NSError(domain: LAErrorDomain, code: -1000))
        #expect(error.code == .authenticationFailed)
        #expect(error.errorCode == -1000)
    }

    // MARK: Casts.

    @Test("An NSError casts to LAError only in its domain, and back with its code") func errorsCastInTheirDomain() {
        #expect((cancelled as? LAError)?.code == .userCancel)
        #expect((cancelled as any Error as? LAError)?.code == .userCancel)
        #expect((cancelled as AnyObject as? LAError)?.code == .userCancel)
        #expect((foreign as? LAError) == nil)
        #expect((foreign as any Error as? LAError) == nil)

        let error: any Error = LAError(.systemCancel)
        #expect((error as? LAError)?.code == .systemCancel)
        #expect((error as NSError).code == -4)
        #expect((error as NSError).domain == LAErrorDomain)
        #expect((LAError(.appCancel) as NSError).code == -9)
    }

    @Test("A thrown error is caught in every form") func thrownErrorIsCaughtInEveryForm() {
        for thrown in [LAError(.userCancel), cancelled] as [any Error] {
            var caught: [String] = []
            do { throw thrown } catch LAError.userCancel { caught.append("code") } catch {}
            do { throw thrown } catch let error as LAError { caught.append("\(error.code)") } catch {}
            do { throw thrown } catch let error as NSError { caught.append("\(error.code)") }
            do { throw thrown } catch LAError.userFallback { caught.append("wrong") } catch {}
            #expect(caught == ["code", "userCancel", "-2"])
        }
        do { throw foreign } catch LAError.userCancel { Issue.record("a foreign error matched") } catch {}
    }

    @Test("A code works in a `switch` and as a pattern") func codeWorksInASwitch() {
        switch LAError(.biometryLockout).code {
        case .touchIDLockout: break
        default: Issue.record("the former name is another code")
        }
        #expect(LAError.userCancel ~= cancelled)
        #expect(!(LAError.userCancel ~= foreign))
    }

    @Test("An error pointer receives an error") func errorPointerReceivesAnError() {
        func check(_ error: NSErrorPointer) -> Bool {
            error?.pointee = LAError(.passcodeNotSet) as NSError
            return false
        }
        var error: NSError?
        #expect(!check(&error))
        #expect(!check(nil))
        #expect((error as? LAError)?.code == .passcodeNotSet)
        #expect(LAError.passcodeNotSet.rawValue == error?.code)
    }

    // MARK: Hashing. `NSError` itself traps here.

    @Test("Errors are hashable") func errorsAreHashable() {
        let errors: Set<LAError> = [LAError(.userCancel), LAError(.userCancel), LAError(.appCancel)]
        #expect(errors.count == 2)
        #expect(errors.contains(LAError(_nsError: cancelled)))
        #expect([LAError(.userCancel): "x"][LAError(.userCancel)] == "x")
        #expect(LAError(.userCancel).hashValue == LAError(.userCancel).hashValue)
        #expect(AnyHashable(LAError(.userCancel)) == AnyHashable(LAError(.userCancel)))
        #expect(LAError(.userCancel) != LAError(.appCancel))
    }

    // MARK: Descriptions.

    @Test("The description of an error is the same in every form") func descriptionIsTheSameInEveryForm() {
        let error = LAError(.biometryNotEnrolled)
        let text = "No fingerprint or face is enrolled on this device."
        #expect(error.localizedDescription == text)
        #expect((error as NSError).localizedDescription == text)
        #expect((error as any Error).localizedDescription == text)
    }

    @Test("An error keeps a description of its own") func errorKeepsItsOwnDescription() {
        let error = LAError(.userCancel, userInfo: [NSLocalizedDescriptionKey: "mine"])
        #expect(error.localizedDescription == "mine")
        #expect((error as any Error).localizedDescription == "mine")
    }

    // MARK: Numbers.

    @Test(
        "Error codes have Apple's numbers",
        arguments: [
            (LAError.authenticationFailed, kLAErrorAuthenticationFailed, -1),
            (LAError.userCancel, kLAErrorUserCancel, -2),
            (LAError.userFallback, kLAErrorUserFallback, -3),
            (LAError.systemCancel, kLAErrorSystemCancel, -4),
            (LAError.passcodeNotSet, kLAErrorPasscodeNotSet, -5),
            (LAError.biometryNotAvailable, kLAErrorBiometryNotAvailable, -6),
            (LAError.touchIDNotAvailable, kLAErrorTouchIDNotAvailable, -6),
            (LAError.biometryNotEnrolled, kLAErrorBiometryNotEnrolled, -7),
            (LAError.touchIDNotEnrolled, kLAErrorTouchIDNotEnrolled, -7),
            (LAError.biometryLockout, kLAErrorBiometryLockout, -8),
            (LAError.touchIDLockout, kLAErrorTouchIDLockout, -8),
            (LAError.appCancel, kLAErrorAppCancel, -9),
            (LAError.invalidContext, kLAErrorInvalidContext, -10),
            (LAError.companionNotAvailable, kLAErrorCompanionNotAvailable, -11),
            (LAError.watchNotAvailable, kLAErrorWatchNotAvailable, -11),
            (LAError.biometryNotPaired, kLAErrorBiometryNotPaired, -12),
            (LAError.biometryDisconnected, kLAErrorBiometryDisconnected, -13),
            (LAError.invalidDimensions, kLAErrorInvalidDimensions, -14),
            (LAError.notInteractive, kLAErrorNotInteractive, -1004),
        ] as [(LAError.Code, Int32, Int)])
    func codesHaveApplesNumbers(code: LAError.Code, constant: Int32, number: Int) {
        #expect(code.rawValue == number)
        #expect(Int(constant) == number)
        #expect(LAError(code).localizedDescription.hasSuffix("."))
    }

    @Test("Policies and other enumerations have Apple's numbers") func smallEnumsHaveApplesNumbers() {
        #expect(LAPolicy.deviceOwnerAuthenticationWithBiometrics.rawValue == 1)
        #expect(LAPolicy.deviceOwnerAuthentication.rawValue == 2)
        #expect(LAPolicy.deviceOwnerAuthenticationWithWatch.rawValue == 3)
        #expect(LAPolicy.deviceOwnerAuthenticationWithBiometricsOrWatch.rawValue == 4)
        #expect(LAPolicy.deviceOwnerAuthenticationWithWristDetection.rawValue == 5)
        #expect(LABiometryType.none.rawValue == 0)
        #expect(LABiometryType.opticID.rawValue == 4)
        #expect(LACredentialType.smartCardPIN.rawValue == -3)
        #expect(LAAccessControlOperation.useKeyKeyExchange.rawValue == 5)
        #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == 300)
    }
}
