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
    /** Whether there are fields to log in with: an account, a password, or both. */
    login: boolean;
    password: boolean;
    /** Whether there are fields for a new password, and what the page demands of it. */
    renewal: null | { rules: string; minlength: number | null; maxlength: number | null };
    code: boolean;
    /** The account that the form shows, and whether a password was typed. */
    account: string;
    typed: boolean;
}

interface PageFields {
    inspect(origin: string): FoundFields | null;
    fill(origin: string, account: string, password: string | null): boolean;
    renew(origin: string, password: string): boolean;
    code(origin: string, code: string): boolean;
    read(origin: string): { account: string; password: string } | null;
    /** Whether this frame and each one around it are of this origin. */
    isOf(origin: string): boolean;
    /** Whether you can see the field now. */
    isSeen(field: HTMLInputElement): boolean;
    /** Whether the page shows the field, also where something is over it or it is scrolled away. */
    isShown(field: HTMLInputElement): boolean;
    sent(fields: HTMLInputElement[], isTyped: (field: HTMLInputElement) => boolean): SentForm | null;
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
    number: number;
    isCompared: boolean;
    isOffered: boolean;
    timer: ReturnType<typeof setTimeout>;
}

/** The forms that were sent in one tab. */
interface SentForms {
    /** When some of them were compared with the keychain. */
    times: number[];
    /** The latest one, until you answer. */
    waiting: WaitingForm | null;
    /** The account of a page that asks for the account first. */
    first: { origin: string; account: string } | null;
    /** Ends when the latest one has been compared. */
    looking: Promise<void> | null;
}

/** What you are offered to save, without the password. */
interface Offer {
    number: number;
    origin: string;
    account: string;
    /** Whose password would be replaced. */
    item: OfferedItem | null;
}

declare var vaubanPage: PageFields;

/** An item that the host offers for a site. */
interface OfferedItem {
    item: string;
    purpose: "password" | "code";
    title: string;
    account: string;
    /** How `vauban` takes a password's item in one word. */
    name?: string;
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
