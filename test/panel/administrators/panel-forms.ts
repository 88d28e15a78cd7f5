// The forms of the panel's pages, and every way of filling one in that its choices and boxes allow.

import type { ActionRoute } from "../../../src/panel/server/route.ts";
import { ROUTES } from "../../../src/panel/server/routes.ts";

export interface FoundForm {
  action: string;
  fields: FoundField[];
}

interface FoundField {
  name: string;
  /** Every value that it can be sent with; null: not sent. */
  values: (string | null)[];
  /** Anything may be typed: the values are examples. */
  isTyped: boolean;
}

/** What is typed into a field without a choice: the first of these that the form takes is not known, so each is tried. */
const TYPED: Record<string, readonly string[]> = {
  amount: ["5"],
  name: ["newname"],
  username: ["zoe"],
  reseller: ["alice"],
  parent: ["alice"],
  percent: ["100", "-50"],
  price: ["0"],
  rate: ["0"],
  url: ["https://new.example/api"],
  key: ["another-provider-key"],
  remains: ["0", "50"],
  "provider-order": ["4711"],
  "provider-service": ["7"],
  provider: ["acme"],
  service: ["followers"],
  min: ["1"],
  max: ["1000"],
  markup: ["0"],
  reference: [""],
  allow: [""],
  days: ["", "30"],
  "recharge-limit": [""],
  "recharge-daily": ["7"],
  reason: ["asked"],
  "low-balance": ["1"],
  "rate-to-usd": [""],
  currency: [""],
  csv: ["name,price,min,max\nImported,0,1,100\n", "service,username,price\nfollowers,alice,0\n"],
  code: ["000000"],
  password: ["a new long password"],
  current: ["correct horse battery"],
  proof: ["correct horse battery"],
  chat: [""],
  token: [""],
  id: ["another", "third"],
  fee: ["1"],
  fixed: ["0"],
  bonus: ["100=3"],
  resellers: [""],
  "name-en": ["Name", "Other"],
  "pay-url": [""],
  "secret-key": ["sk_live_0123456789"],
  "webhook-secret": ["whsec_0123456789"],
};

/** The forms that change something. */
export function formsIn(html: string): FoundForm[] {
  const forms: FoundForm[] = [];
  let form: { actions: Set<string>; fields: Map<string, FoundField> } | null = null;
  let select: FoundField | null = null;
  const field = (name: string): FoundField => {
    const found = form!.fields.get(name) ?? { name, values: [], isTyped: false };
    form!.fields.set(name, found);
    return found;
  };
  const typed = (name: string, value: string | null) => {
    const values = TYPED[name] ?? ["n"];
    const found = field(name);
    found.isTyped = true;
    found.values.push(...new Set([value ?? "", ...values]));
  };
  new HTMLRewriter()
    .on("form", {
      element(element) {
        form = null;
        if (element.getAttribute("method") !== "post") return;
        form = { actions: new Set([element.getAttribute("action")!]), fields: new Map() };
        const { actions, fields } = form;
        element.onEndTag(() => {
          for (const action of actions) forms.push({ action, fields: [...fields.values()] });
          form = null;
        });
      },
    })
    .on("input", {
      element(element) {
        const name = element.getAttribute("name");
        if (!form || name === null) return;
        const type = element.getAttribute("type");
        const value = element.getAttribute("value");
        if (type === "hidden") field(name).values.push(value);
        else if (type === "checkbox") field(name).values.push(value, null);
        else if (type === "radio") field(name).values.push(value);
        else typed(name, value);
      },
    })
    .on("textarea", {
      element(element) {
        if (form) typed(element.getAttribute("name")!, null);
      },
    })
    .on("select", {
      element(element) {
        select = form && field(element.getAttribute("name")!);
      },
    })
    .on("option", {
      element(element) {
        select?.values.push(element.getAttribute("value"));
      },
    })
    .on("button", {
      element(element) {
        const name = element.getAttribute("name");
        if (form && name !== null) field(name).values.push(element.getAttribute("value"));
        // A button may send its form elsewhere.
        const action = element.getAttribute("formaction");
        if (form && action !== null) form.actions.add(action);
      },
    })
    .transform(html);
  return forms;
}

/** Every choice with every other, and with each round of examples for what is typed; at most `most`, spread evenly. */
export function fillings({ fields }: FoundForm, most: number): URLSearchParams[] {
  const typed = fields.filter(({ isTyped }) => isTyped);
  const rounds = Math.max(1, ...typed.map(({ values }) => values.length));
  const choices = fields.filter(({ isTyped }) => !isTyped);
  const all = choices.reduce((product, { values }) => product * values.length, rounds);
  const count = Math.min(all, most);
  return Array.from({ length: count }, (_, index) => {
    let rest = Math.floor((index * all) / count);
    const round = rest % rounds;
    rest = Math.floor(rest / rounds);
    const sent = new URLSearchParams();
    for (const { name, values, isTyped } of fields) {
      const value = values[(isTyped ? round : rest) % values.length]!;
      if (!isTyped) rest = Math.floor(rest / values.length);
      if (value !== null) sent.append(name, value);
    }
    return sent;
  });
}

/** The row of the table that a form's address is answered by. */
export function routeOf(action: string): ActionRoute {
  const parts = action.split("/");
  const found = ROUTES.filter((each): each is ActionRoute => {
    const pattern = each.path.split("/");
    return (
      each.method === "POST" &&
      pattern.length === parts.length &&
      pattern.every((part, index) => part.startsWith(":") || part === parts[index])
    );
  });
  // A written part before a parameter.
  return found.sort((a, b) => a.path.split(":").length - b.path.split(":").length)[0]!;
}
