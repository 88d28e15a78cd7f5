// What a demo shows on its sign-in pages, and which forms it allows to visitors whom nobody knows.

/** A sign-in that everybody may use. */
export interface DemoSignIn {
  name: string;
  password: string;
  role: string;
}

/** The payment method that the demo's own page pays. */
export interface DemoPaymentMethod {
  id: string;
  secret: string;
}

/** A site of a demo; null for any other server. */
export interface DemoSite {
  signIns: readonly DemoSignIn[];
  /** Text of the key of the demo reseller; null on a site that does not show it. */
  key: string | null;
  /** Returns the time of the day at which the demo begins anew, such as `11:00 UTC`; null: never. */
  resets: () => string | null;
  /** Null on a site without payments. */
  payments: DemoPaymentMethod | null;
  /** Null: this demo is not public, and all forms may be sent. */
  isOpen: FormFilter | null;
}

/** Returns whether visitors may send a form, by the path of its route and what is in the path of the request. */
export type FormFilter = (path: string, params: Readonly<Record<string, string>>) => boolean;

/** The demo of each site. */
export interface Demo {
  panel: DemoSite;
  portal: DemoSite;
}
