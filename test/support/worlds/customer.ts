// A member of a reseller at the portal of a server that is another process: forms over real HTTP, with the cookies of a browser.

import { hiddenFields } from "./panel.ts";

/** Accepted for a local server whose certificate signs itself. */
const TLS = { rejectUnauthorized: false };

export type Customer = ReturnType<typeof createCustomer>;

/** `url` is asked for each time: a server that starts again may have another. */
export function createCustomer(url: () => string) {
  const cookies = new Map<string, string>();
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");

  const get = (path: string): Promise<Response> =>
    fetch(`${url()}/portal${path}`, {
      headers: { cookie: cookie() },
      redirect: "manual",
      tls: TLS,
    });

  async function post(
    path: string,
    fields: Record<string, string> | FormData = {},
  ): Promise<Response> {
    const response = await fetch(`${url()}/portal${path}`, {
      method: "POST",
      body: fields instanceof FormData ? fields : new URLSearchParams(fields),
      headers: { origin: url(), cookie: cookie() },
      redirect: "manual",
      tls: TLS,
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      cookies.set(name!, value!);
    }
    return response;
  }

  return {
    get,
    post,
    /** Opens the link of an invitation and chooses a password. */
    async enter(link: string, password = "several easy words"): Promise<void> {
      const entered = await post("/set-up", { token: link.split("#").at(-1)!, password });
      if (entered.status !== 303) throw new Error(`${entered.status}: ${await entered.text()}`);
    },
    /** What the member is asked to confirm of a payment, as the fields of the form that does. */
    async review(method: string, amount: string): Promise<Record<string, string>> {
      return hiddenFields(await (await post("/add-funds", { method, amount })).text());
    },
    /** Asks for a payment; returns its id. */
    async pay(method: string, amount: string): Promise<string> {
      const asked = await post("/add-funds", await this.review(method, amount));
      if (asked.status !== 303) throw new Error(`${asked.status}: ${await asked.text()}`);
      return /\/payments\/(\w+)/.exec(asked.headers.get("location")!)![1]!;
    },
    /** Reports a payment by hand with a receipt. */
    claim(payment: string, receipt: Uint8Array<ArrayBuffer>): Promise<Response> {
      const body = new FormData();
      body.set("reference", "T-1");
      body.set("file", new Blob([receipt], { type: "image/png" }), "receipt.png");
      return post(`/payments/${payment}/claim`, body);
    },
  };
}
