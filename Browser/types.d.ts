// What the extension uses of the browsers' interface, which is the same in both, and what TypeScript does not know of the pages' one.

interface Port {
    postMessage(message: object): void;
    disconnect(): void;
    onMessage: { addListener(listener: (message: any) => void): void };
    onDisconnect: { addListener(listener: (port: Port) => void): void };
    /** The reason in Firefox; Chromium has it in runtime.lastError. */
    error?: { message: string };
    name: string;
    sender?: MessageSender;
}

/** Who sent a message, as the browser says. */
interface MessageSender {
    id?: string;
    url?: string;
    origin?: string;
    frameId?: number;
    /** Its address is there if the browser lets the extension know it. */
    tab?: { id?: number; incognito: boolean; url?: string };
}

interface InjectionTarget {
    tabId: number;
    allFrames?: boolean;
    frameIds?: number[];
}

interface ExtensionInterface {
    runtime: {
        id: string;
        lastError?: { message: string };
        getURL(path: string): string;
        connect(options: { name: string }): Port;
        connectNative(name: string): Port;
        onConnect: { addListener(listener: (port: Port) => void): void };
    };
    action: {
        setBadgeText(badge: { tabId: number; text: string }): Promise<void>;
        setTitle(title: { tabId: number; title: string }): Promise<void>;
    };
    storage: { local: { get(key: string): Promise<Record<string, unknown>>; set(values: object): Promise<void> } };
    tabs: {
        query(options: { active: boolean; lastFocusedWindow: boolean }): Promise<{ id?: number; url?: string }[]>;
        get(id: number): Promise<{ url?: string }>;
        onUpdated: { addListener(listener: (tab: number) => void): void };
        onRemoved: { addListener(listener: (tab: number) => void): void };
    };
    scripting: {
        executeScript(injection: { target: InjectionTarget; files: string[] }): Promise<unknown>;
        executeScript<Arguments extends unknown[], Result>(injection: {
            target: InjectionTarget;
            func: (...values: Arguments) => Result;
            args: Arguments;
        }): Promise<{ frameId: number; result?: Result }[]>;
    };
}

declare var chrome: ExtensionInterface;

/** What `page.js` found in one frame. */
interface FoundFields {
    /** Whether there are fields to log in with, which can be filled: an account, a password, or both. */
    login: boolean;
    password: boolean;
    /** Whether the field for the present password is there and empty. */
    isEmpty: boolean;
    /** Whether the page shows a password, so that this field is not filled. */
    isShown: boolean;
    /** Whether there are fields for a new password, and what the page demands of it. */
    renewal: null | { rules: string; minlength: number | null; maxlength: number | null };
    code: boolean;
    /** The account that the form shows. */
    account: string;
    /** The number of what you typed as a password; null if you typed none. */
    typed: number | null;
}

/** Where and until when something may be filled, in the browser's clock. */
interface Place {
    origin: string;
    until: number;
}

/** What the functions that fill return: whether they did. */
interface PageFields {
    inspect(origin: string, number: number): FoundFields | null;
    fill(place: Place, account: string, password: string | null): boolean;
    /** Fills the present password, unless something is there. */
    current(place: Place, password: string): boolean;
    renew(place: Place, password: string): boolean;
    code(place: Place, code: string): boolean;
    /** What you typed, if it still is what `inspect` gave this number to. */
    read(place: Place, number: number): { account: string; password: string } | null;
    /** Whether this frame and each one around it are of this origin. */
    isOf(origin: string): boolean;
    /** Whether a field is for a password, hidden or shown. */
    isPassword(field: HTMLInputElement): boolean;
    sent(fields: HTMLInputElement[]): SentForm | null;
}

/** Where the parts of the page that were scrolled stood before. */
type Offsets = Map<Element, { left: number; top: number }>;

interface FieldSight {
    /**
     * Whether you can see the field: its size, its place, nothing over it, and nothing that makes it transparent. A field outside of the
     * window is none that you see, unless it can be scrolled there: `before` then has what to undo with `scrollBack`.
     */
    isVisible(field: HTMLInputElement, before: Offsets | null): boolean;
    /** Whether the page shows the field, also where something is over it or it is scrolled away. */
    isShown(field: HTMLInputElement): boolean;
    scrollBack(before: Offsets): void;
}

interface TypedFields {
    /** Whether the field has what you typed into it. */
    isTyped(field: HTMLInputElement): boolean;
    /** Whether the field was one of the type "password" before. */
    wasPassword(field: HTMLInputElement): boolean;
    /** Has a function called after each change by you. */
    onChange(listener: (field: HTMLInputElement) => void): void;
}

/** What you typed into a form and sent; without a password, if the page asks for the account first. */
interface SentForm {
    account: string;
    password: string;
    /** Whether the form is one for a new password. */
    isNew: boolean;
}

/** A form that waits for your answer. */
interface WaitingForm extends SentForm {
    origin: string;
    isCompared: boolean;
    isOffered: boolean;
}

/** What is known of the forms that were sent in one tab, beside the one that waits. */
interface SentForms {
    /** When some of them were compared with the keychain. */
    times: number[];
    /** The account of a page that asks for the account first. */
    first: { origin: string; account: string } | null;
    /** Ends that account's time. */
    firstTimer: ReturnType<typeof setTimeout> | undefined;
    /** Ends when the latest one has been compared. */
    looking: Promise<void> | null;
}

/** What you are offered to save, without the password. */
interface Offer {
    number: number;
    origin: string;
    /** Empty if it is not known. */
    account: string;
    /** Whose password would be replaced, each by a choice of its own; none for a new account. */
    items: OfferedItem[];
    /** Whether the keychain keeps the password before. */
    keepsHistory: boolean;
}

/** What came of an order. */
interface Outcome {
    tab: number;
    number: number;
    sentence: string;
}

declare var vaubanPage: PageFields;
declare var vaubanSight: FieldSight;
declare var vaubanTyped: TypedFields;

/** An item that the host offers for a site. */
interface OfferedItem {
    item: string;
    purpose: "password" | "code";
    title: string;
    account: string;
    /** How `vauban list` names a password's item. */
    name?: string;
    /** The options with which `vauban` selects it alone; older hosts do not say them. */
    options?: string[];
    why: string;
    asks: boolean;
}

/** What the popup shows. */
interface View {
    tab: number;
    frame: number;
    origin: string;
    items: OfferedItem[];
    fields: FoundFields | null;
    /** Whether the page did not answer in time. */
    isSilent: boolean;
    /** Whether the browser lets no extension into the page. */
    isClosed: boolean;
    /** Whether the keychain has more items for the site than these. */
    hasMore: boolean;
    /** Whether the keychain keeps earlier passwords. */
    keepsHistory: boolean;
    offer: Offer | null;
    /** Whether you said that this site is never to be asked about. */
    isSilenced: boolean;
}

interface Navigator {
    /** Whether you clicked or typed in the page within the last seconds. */
    userActivation: { isActive: boolean };
}

interface Element {
    checkVisibility(options: { opacityProperty: boolean; visibilityProperty: boolean }): boolean;
}
