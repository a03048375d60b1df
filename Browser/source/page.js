// Finds and fills fields. It runs in a world that the page's scripts cannot enter: in the frames of the page's own origin after you opened
// Vauban's popup, and in each page with https for submit.js, where it waits to be called. It decides nothing about items: the host does.

globalThis.vaubanPage = (() => {
    /** A page with more is no form, and must not keep the browser busy. */
    const fieldsMax = 300;
    /** Fields of other types take neither an account, nor a password, nor a code. */
    const types = ["text", "email", "tel", "number", "password"];
    /**
     * What you typed and the popup offers to save, with its number.
     * @type {{ number: number, account: string, password: string } | null}
     */
    let shown = null;

    /**
     * Whether this frame and each one around it are of this origin.
     * @param {string} origin
     */
    function isOf(origin) {
        if (location.protocol !== "https:" || window.origin !== origin) return false;
        try {
            for (let frame = /** @type {Window} */ (window); ; frame = frame.parent) {
                // Throws for a frame of another origin.
                if (frame.location.origin !== origin) return false;
                if (frame === frame.parent) return true;
            }
        } catch {
            return false;
        }
    }

    /**
     * Whether something may still be filled here: you were told that it was not, if the page took longer to come to this.
     * @param {Place} place
     */
    function isNow({ origin, until }) {
        return Date.now() <= until && isOf(origin);
    }

    /** @param {HTMLInputElement} field @param {string} token */
    function says(field, token) {
        return (field.getAttribute("autocomplete") ?? "").toLowerCase().split(/\s+/).includes(token);
    }

    /** @param {HTMLInputElement} field */
    function names(field) {
        return `${field.name} ${field.id} ${field.placeholder} ${field.getAttribute("aria-label") ?? ""}`;
    }

    /** @param {HTMLInputElement} field */
    function isCode(field) {
        if (!["text", "number", "tel", "password"].includes(field.type)) return false;
        if (says(field, "one-time-code")) return true;
        return /(^|[^a-z])(otp|totp|2fa|mfa)([^a-z]|$)|one.?time|(verification|security|auth\w*).?code/i.test(names(field));
    }

    /**
     * Whether a field is for a password, also where the page shows what you type: it was a field of this type before, or it says so. That
     * it says "new-password" is not enough: pages put that into any field that browsers are not to fill.
     * @param {HTMLInputElement} field
     */
    function isPassword(field) {
        if (!types.includes(field.type) || isCode(field)) return false;
        if (isHidden(field) || vaubanTyped.wasPassword(field) || says(field, "current-password")) return true;
        return field.type === "text" && says(field, "new-password") && /\bpass\b|passw|passphrase|pwd/i.test(names(field).replaceAll("_", " "));
    }

    /**
     * Whether a field hides what is in it. Only such a field gets a password.
     * @param {HTMLInputElement} field
     */
    function isHidden(field) {
        return field.type === "password";
    }

    /**
     * The fields of the form that has the focus, or of the first one with a password. The page stays where you scrolled it: what is filled
     * comes into sight with the focus.
     */
    function form() {
        const before = /** @type {Offsets} */ (new Map());
        const candidates = [...document.querySelectorAll("input")].filter((field) => types.includes(field.type)).slice(0, fieldsMax);
        const all = candidates.filter((field) => vaubanSight.isVisible(field, before));
        vaubanSight.scrollBack(before);
        const passwords = all.filter(isPassword);
        const focused = document.activeElement instanceof HTMLInputElement ? document.activeElement : null;
        const chosen = (focused && all.includes(focused) ? focused : passwords[0])?.form ?? null;
        const own = chosen ? all.filter((field) => field.form === chosen) : all;
        return { ...parts(own), code: all.find(isCode) ?? null };
    }

    /**
     * What the fields of one form are for.
     * @param {HTMLInputElement[]} own
     */
    function parts(own) {
        const passwords = own.filter(isPassword);
        const renewed = newOnes(passwords);
        return { account: accountField(own, passwords[0]), current: passwords.filter((field) => !renewed.includes(field)), renewed };
    }

    /**
     * The fields for a new password: as they say, or by their number.
     * @param {HTMLInputElement[]} passwords
     */
    function newOnes(passwords) {
        const named = passwords.filter((field) => says(field, "new-password"));
        if (named.length > 0) return named;
        const unnamed = passwords.filter((field) => !says(field, "current-password"));
        if (unnamed.length < passwords.length) return unnamed;
        return passwords.length === 2 ? passwords : passwords.slice(1, 3);
    }

    /** @param {HTMLInputElement[]} fields @param {HTMLInputElement | undefined} password */
    function accountField(fields, password) {
        const others = fields.filter((field) => !isPassword(field));
        const named = others.find((field) => says(field, "username")) ?? others.find((field) => says(field, "email"));
        if (named) return named;
        const texts = others.filter((field) => ["text", "email", "tel"].includes(field.type) && !isCode(field))
            .filter((field) => !says(field, "new-password") || /user|login|account|mail/i.test(names(field)));
        if (!password) {
            const words = /user|login|account/i;
            return texts.find((field) => field.type === "email" || words.test(`${field.name} ${field.id}`)) ?? null;
        }
        return texts.filter((field) => field.compareDocumentPosition(password) & Node.DOCUMENT_POSITION_FOLLOWING).at(-1) ?? null;
    }

    /**
     * The field that gets a password which you have: the one for the present password. Some sites mark the only field of their login as one
     * for a new password.
     * @param {{ current: HTMLInputElement[], renewed: HTMLInputElement[] }} form
     */
    function presentField({ current, renewed }) {
        const [field] = current.length === 0 && renewed.length === 1 ? renewed : current;
        return field && isHidden(field) ? field : null;
    }

    /**
     * The fields that get a generated password: all for a new one, or none, since they must have the same.
     * @param {{ renewed: HTMLInputElement[] }} form
     */
    function renewedFields({ renewed }) {
        return renewed.every(isHidden) ? renewed : [];
    }

    /**
     * The password that you typed into a form; empty if there is none, and null if a field that must have the same has another.
     * @param {{ current: HTMLInputElement[], renewed: HTMLInputElement[] }} form
     */
    function typedPassword({ current, renewed }) {
        const written = (renewed.length > 0 ? renewed : current).filter((field) => field.value !== "");
        const password = written.find((field) => vaubanTyped.isTyped(field))?.value ?? "";
        return password !== "" && written.some((field) => field.value !== password) ? null : password;
    }

    /**
     * Whether a field counts in a form that is sent: if you typed into it, or see what it has.
     * @param {HTMLInputElement} field
     */
    function counts(field) {
        return vaubanTyped.isTyped(field) || ((!isPassword(field) || field.value !== "") && vaubanSight.isVisible(field, null));
    }

    /**
     * As if you had typed it.
     * @param {HTMLInputElement} field @param {string} text
     */
    function put(field, text) {
        field.focus();
        field.value = text;
        field.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertReplacementText" }));
        field.dispatchEvent(new Event("change", { bubbles: true }));
    }

    /** @param {number} length */
    function limit(length) {
        return length > 0 ? length : null;
    }

    /** @type {PageFields} */
    const fields = {
        inspect(origin, number) {
            if (!isOf(origin)) return null;
            const { account, current, renewed, code } = form();
            const present = presentField({ current, renewed });
            const [first] = renewedFields({ renewed });
            const written = renewed.map((field) => field.getAttribute("passwordrules") ?? "").find((text) => text !== "") ?? "";
            const rules = written.replace(/\s+/g, " ").slice(0, 4000);
            const password = typedPassword({ current, renewed });
            shown = password ? { number, account: account?.value ?? "", password } : null;
            return {
                login: account !== null || present !== null,
                password: present !== null,
                isEmpty: current[0]?.value === "",
                isShown: [...current, ...renewed].some((field) => !isHidden(field)),
                renewal: first ? { rules, minlength: limit(first.minLength), maxlength: limit(first.maxLength) } : null,
                code: code !== null,
                account: account?.value ?? "",
                typed: shown && number,
            };
        },
        fill(place, account, password) {
            if (!isNow(place)) return false;
            const found = form();
            const field = presentField(found);
            if (password !== null && !field) return false;
            // Without an account in the item, the one that you typed stays.
            if (found.account && account !== "" && found.account.value !== account) put(found.account, account);
            if (password === null || !field) return found.account !== null && account !== "";
            // The page has been told of the account, and may show the password since.
            if (!isHidden(field)) return false;
            put(field, password);
            return true;
        },
        current(place, password) {
            if (!isNow(place)) return false;
            const field = form().current[0];
            if (!field || !isHidden(field)) return false;
            if (field.value === "") put(field, password);
            return true;
        },
        renew(place, password) {
            if (!isNow(place)) return false;
            const fields = renewedFields(form());
            for (const field of fields) {
                // The page has been told of the one before, and may show the password since.
                if (!isHidden(field)) return false;
                put(field, password);
            }
            return fields.length > 0;
        },
        code(place, code) {
            if (!isNow(place)) return false;
            const field = form().code;
            if (field) put(field, code);
            return field !== null;
        },
        read(place, number) {
            if (!isNow(place) || shown?.number !== number) return null;
            const found = form();
            const { account, password } = shown;
            return typedPassword(found) === password && (found.account?.value ?? "") === account ? { account, password } : null;
        },
        isOf,
        isPassword,
        sent(all) {
            const { account, current, renewed } = parts(all.slice(0, fieldsMax).filter(counts));
            const password = typedPassword({ current, renewed });
            if (password === null || (!account?.value && !password)) return null;
            return { account: account?.value ?? "", password, isNew: renewed.length > 0 };
        },
    };
    return fields;
})();
