// The Stripe method by itself: its settings, amounts, requests and causes. What becomes of payments is in
// stripe-cases.test.ts.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { Stripe } from "stripe";
import { decimalsOf, unitMicrosOf } from "../../src/domain/payments/currencies.ts";
import type { BeginResult, MethodApi, PaymentToBegin } from "../../src/payments/method.ts";
import { isChargeable, toMicros, toMinor } from "../../src/payments/stripe-amounts.ts";
import { stripe } from "../../src/payments/stripe.ts";
import { freshFolder } from "../support/folders.ts";
import { makeCertificate } from "../support/http/certificates.ts";
import { type Fault } from "../support/peers/stripe/api.ts";
import {
  LIVE_KEY,
  type LocalStripe,
  startStripe,
  TEST_KEY,
  WEBHOOK_SECRET,
} from "../support/peers/stripe/server.ts";
import { until } from "../support/until.ts";

const NEVER = new AbortController().signal;
/** Long enough for a local answer on a busy machine, short enough to wait for. */
const TIMEOUT_MS = 10_000;
/** Also long enough for the answer that follows the silence. */
const SILENCE_MS = 5000;
const HOUR_MS = 60 * 60 * 1000;

let local: LocalStripe;
let api: MethodApi;
beforeAll(async () => {
  local = await startStripe();
  api = await connect(local.url);
});
afterAll(() => local.stop());

function connect(url: string, key = TEST_KEY, timeoutMs = TIMEOUT_MS): Promise<MethodApi> {
  const settings = { "secret-key": key, "webhook-secret": WEBHOOK_SECRET };
  return stripe.connect(settings, { timeoutMs, stripeApi: new URL(url) });
}

let payments = 0;
function payment(changes: Partial<PaymentToBegin> = {}): PaymentToBegin {
  payments += 1;
  return {
    id: `payment${payments}`,
    amountMicros: 12_340_000,
    currency: "USD",
    description: "Funds for nova",
    language: "pt-BR",
    email: "owner@nova.example",
    returnUrl: "https://shop.example/portal/payments/p1",
    createdAt: Date.now(),
    ...changes,
  };
}

describe("settings", () => {
  const rows: [setting: string, value: string, isRight: boolean][] = [
    ["secret-key", TEST_KEY, true],
    ["secret-key", LIVE_KEY, true],
    ["secret-key", TEST_KEY.replace("sk_", "rk_"), true],
    ["secret-key", TEST_KEY.replace("sk_", "pk_"), false],
    ["secret-key", TEST_KEY.replace("test_", ""), false],
    ["secret-key", `${TEST_KEY} `, false],
    ["secret-key", WEBHOOK_SECRET, false],
    ["webhook-secret", WEBHOOK_SECRET, true],
    ["webhook-secret", WEBHOOK_SECRET.replace("whsec_", ""), false],
    ["webhook-secret", `${WEBHOOK_SECRET}\n`, false],
    ["webhook-secret", TEST_KEY, false],
  ];
  test.each(rows)("%s %j: %p", (setting, value, isRight) => {
    const { isRight: check } = stripe.settings.find(({ name }) => name === setting)!;
    expect(check!(value)).toBe(isRight);
  });

  test("are all secrets, which no page, log or audit shows", () => {
    expect(stripe.settings.map(({ isSecret }) => isSecret)).toEqual([true, true]);
  });
});

describe("amounts", () => {
  // https://docs.stripe.com/currencies#zero-decimal and #special-cases
  const MINOR: [currency: string, micros: number, minor: number | null][] = [
    ["USD", 10_990_000, 1099],
    ["USD", 999_999_990_000, 99_999_999],
    ["USD", 1_000_000_000_000, null],
    ["USD", 10_999_999, null],
    ["USD", 0, null],
    ["JPY", 500_000_000, 500],
    ["JPY", 500_500_000, null],
    ["MGA", 500_000_000, null],
    ["XOF", 655_000_000, 655],
    ["ISK", 5_000_000, 500],
    ["UGX", 5_000_000, 500],
    ["HUF", 10_450_000, 1045],
    ["TWD", 800_450_000, 80_045],
    ["KWD", 5_120_000, null],
    ["BHD", 5_124_000, null],
  ];
  test.each(MINOR)("%s %d micros are %p", (currency, micros, minor) => {
    expect(toMinor(micros, currency)).toBe(minor);
    if (minor !== null) expect(toMicros(minor, currency)).toBe(micros);
  });

  test("every amount of every currency that is taken can be charged, and comes back the same", () => {
    const currencies = Intl.supportedValuesOf("currency");
    const taken = currencies.filter(isChargeable);
    expect(taken.length).toBeGreaterThan(100);
    for (const currency of taken) {
      const unit = unitMicrosOf(currency);
      for (const units of [1, 2, 9, 10, 99, 101, 12_345]) {
        const minor = toMinor(units * unit, currency);
        expect([currency, toMicros(minor!, currency)]).toEqual([currency, units * unit]);
      }
    }
    const refused = currencies.filter((each) => !isChargeable(each));
    expect(refused.filter((each) => decimalsOf(each) === 0)).toEqual([]);
    expect(refused).toEqual(expect.arrayContaining(["BHD", "JOD", "KWD", "OMR", "TND"]));
  });

  test("a currency that cannot be charged is asked of nobody", async () => {
    const asked = local.asked.length;
    const begun = await api.begin(payment({ currency: "KWD", amountMicros: 5_124_000 }), NEVER);
    expect(begun.outcome).toBe("refused");
    expect(local.asked.length).toBe(asked);
  });
});

describe("a session", () => {
  test("has one line of the amount, our id three times, and nothing that the customer's browser decides", async () => {
    const given = payment();
    const begun = await api.begin(given, NEVER);
    const { params, headers } = local.asked.at(-1)!;
    expect(params).toEqual({
      mode: "payment",
      line_items: [
        {
          quantity: "1",
          price_data: {
            currency: "usd",
            unit_amount: "1234",
            product_data: { name: "Funds for nova" },
          },
        },
      ],
      client_reference_id: given.id,
      metadata: { reseller_payment: given.id },
      payment_intent_data: {
        metadata: { reseller_payment: given.id },
        description: "Funds for nova",
      },
      success_url: given.returnUrl,
      cancel_url: given.returnUrl,
      expires_at: String(Math.floor((given.createdAt + 12 * HOUR_MS) / 1000)),
      locale: "pt-BR",
      submit_type: "pay",
      adaptive_pricing: { enabled: "false" },
      automatic_tax: { enabled: "false" },
      customer_email: "owner@nova.example",
    });
    expect(headers["idempotency-key"]).toBe(given.id);
    // No telemetry, and nothing about this machine.
    expect(headers["x-stripe-client-telemetry"]).toBeUndefined();
    expect(headers["x-stripe-client-user-agent"]).not.toContain("platform");
    const { id, url } = local.session;
    const expiresAt = Math.floor((given.createdAt + 12 * HOUR_MS) / 1000) * 1000;
    expect(begun).toEqual({ outcome: "begun", reference: id, url, expiresAt });
  });

  test.each([
    ["owner@nova.example", true],
    ["Ann.Lee+shop_1@mail.nova.example", true],
    ["owner@localhost", false],
    ["имя@nova.example", false],
    ["owner@пример.рф", false],
    ['"a b"@nova.example', false],
    ["o'neil@nova.example", false],
  ])("begins for a member with the address %s", async (email, isSent) => {
    expect(await api.begin(payment({ email }), NEVER)).toMatchObject({ outcome: "begun" });
    const { customer_email } = local.asked.at(-1)!.params as Record<string, unknown>;
    expect(customer_email).toBe(isSent ? email : undefined);
  });

  test("is the same one for the same payment, whenever it is asked for again", async () => {
    const given = payment();
    const begun = await api.begin(given, NEVER);
    const again = await api.begin({ ...given }, NEVER);
    expect(again).toEqual(begun);
  });

  test("is one, however many ask for it at the same time", async () => {
    const given = payment();
    const sessions = local.account.sessions.size;
    const release = local.hold(/^POST/);
    const asked = local.asked.length;
    const attempts = Promise.all(Array.from({ length: 5 }, () => api.begin(given, NEVER)));
    await until(() => local.asked.length >= asked + 5);
    release();
    const begun = await attempts;
    expect(local.account.sessions.size).toBe(sessions + 1);
    // Stripe refuses a key that is in use, so some attempts were made twice.
    for (const each of begun) expect(each).toEqual(begun[0]!);
    expect(begun[0]).toMatchObject({ outcome: "begun", reference: local.session.id });
  });

  test("is not asked for again once its time is over", async () => {
    const begun = await api.begin(payment({ createdAt: Date.now() - 12 * HOUR_MS }), NEVER);
    expect(begun.outcome).toBe("refused");
  });
});

type Begun = BeginResult["outcome"];
const FAULTS: [fault: Fault, one: Begun, two: Begun][] = [
  ["429", "unknown", "unknown"],
  ["lock_timeout", "unknown", "unknown"],
  ["500 before", "begun", "unknown"],
  ["500 after", "unknown", "unknown"],
  ["503 page", "begun", "unknown"],
  ["no answer before", "begun", "unknown"],
  ["no answer after", "begun", "unknown"],
  ["cut before", "begun", "unknown"],
  ["cut after", "begun", "unknown"],
  ["cut in answer", "begun", "unknown"],
  ["no json", "unknown", "unknown"],
  ["endless", "begun", "unknown"],
  ["redirect", "unknown", "unknown"],
  ["echo", "refused", "refused"],
  ["403", "refused", "refused"],
  ["notice", "begun", "begun"],
];

/** A Stripe of a test's own, so that tests wait side by side. */
async function ownStripe(fault: Fault) {
  const own = await startStripe();
  const isSilent = fault.startsWith("no answer");
  return { own, api: await connect(own.url, TEST_KEY, isSilent ? SILENCE_MS : TIMEOUT_MS) };
}

describe("faults", () => {
  test.concurrent.each(FAULTS)(
    "%s once: %s; twice: %s; and never two sessions",
    async (fault, one, two) => {
      const { own, api } = await ownStripe(fault);
      for (const [times, outcome] of [
        [1, one],
        [2, two],
      ] as const) {
        own.fail(/^POST/, ...Array.from({ length: times }, () => fault));
        const given = payment();
        const begun = await api.begin(given, NEVER);
        expect(begun.outcome).toBe(outcome);
        own.mend();
        const again = await api.begin(given, NEVER);
        // Stripe remembers that error for the key, for a day.
        const isRemembered = fault === "500 after";
        expect(again.outcome).toBe(isRemembered ? "unknown" : "begun");
        expect(own.account.sessions.size).toBe(times);
      }
      await own.stop();
    },
  );

  test.concurrent.each(FAULTS)(
    "%s while reading: the reading fails, and the next succeeds",
    async (fault) => {
      const { own, api } = await ownStripe(fault);
      await api.begin(payment(), NEVER);
      const { id: reference } = own.session;
      own.account.payByCard(reference);
      own.failAll(/^GET/, fault);
      const read = await api.read!({ id: "", reference }, NEVER);
      expect("failed" in read).toBe(fault !== "notice");
      own.mend();
      const again = await api.read!({ id: "", reference }, NEVER);
      expect(again).toMatchObject({ reading: { state: "paid", amountMicros: 12_340_000 } });
      await own.stop();
    },
  );

  test("a call ends when the server stops, whatever its time limit is", async () => {
    const patient = await connect(local.url, TEST_KEY, 24 * HOUR_MS);
    const stop = new AbortController();
    local.failAll(/^POST/, "no answer before");
    const asked = local.asked.length;
    const begun = patient.begin(payment(), stop.signal);
    await until(() => local.asked.length > asked);
    stop.abort();
    expect((await begun).outcome).toBe("unknown");
    local.mend();
  });
});

describe("the package", () => {
  test("writes nothing to the console, and sends no telemetry", async () => {
    const written = (["warn", "error", "log"] as const).map((name) => spyOn(console, name));
    const asked = local.asked.length;
    await api.begin(payment(), NEVER);
    const { id: reference } = local.session;
    local.account.payByCard(reference);
    local.account.refund(reference, 100);
    local.failAll(/./, "notice");
    await api.read!({ id: "", reference }, NEVER);
    local.mend();
    const headers = local.asked.slice(asked).map((each) => each.headers);
    expect(headers.length).toBe(3);
    for (const each of headers) expect(each["x-stripe-client-telemetry"]).toBeUndefined();
    for (const spy of written) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });

  test("measures the age of an event by the server's clock", async () => {
    const [payload, signedAt] = [
      JSON.stringify({ object: "event", livemode: false }),
      1_700_000_000,
    ];
    const secret = WEBHOOK_SECRET;
    const options = { payload, secret, timestamp: signedAt } as never;
    const signature = await Stripe.webhooks.generateTestHeaderStringAsync(options);
    const headers = new Headers({ "stripe-signature": signature });
    const body = new TextEncoder().encode(payload);
    const at = (seconds: number) => api.notice!({ body, headers, now: seconds * 1000 });
    expect(await at(signedAt + 300)).toEqual({ claim: "none" });
    expect(await at(signedAt + 301)).toMatchObject({ refused: expect.stringMatching(/tolerance/) });
  });
});

describe("secrets", () => {
  test("no cause holds the key, or the signing secret", async () => {
    const causes: string[] = [];
    const other = await connect(local.url, LIVE_KEY);
    const wrong = await other.begin(payment(), NEVER);
    expect(wrong).toMatchObject({ outcome: "refused" });
    causes.push(JSON.stringify(wrong));
    causes.push(JSON.stringify(await other.read!({ id: "", reference: "cs_test_1" }, NEVER)));
    const body = new TextEncoder().encode("{}");
    for (const signature of ["", "t=1,v1=1", WEBHOOK_SECRET]) {
      const headers = new Headers({ "stripe-signature": signature });
      causes.push(JSON.stringify(await api.notice!({ body, headers, now: Date.now() })));
    }
    for (const [fault] of FAULTS.filter(([each]) => !each.startsWith("no answer"))) {
      local.failAll(/^GET/, fault);
      causes.push(JSON.stringify(await api.read!({ id: "", reference: "cs_test_1" }, NEVER)));
      local.mend();
    }
    for (const secret of [TEST_KEY, LIVE_KEY, WEBHOOK_SECRET]) {
      expect(causes.filter((cause) => cause.includes(secret))).toEqual([]);
    }
  });

  test("are sent to nobody whose certificate is not trusted", async () => {
    const files = makeCertificate(freshFolder(), "localhost");
    const [cert, key] = [readFileSync(files.cert, "utf8"), readFileSync(files.key, "utf8")];
    const imposter = await startStripe({ tls: { cert, key } });
    const begun = await (await connect(imposter.url)).begin(payment(), NEVER);
    expect(begun).toMatchObject({ outcome: "unknown" });
    expect(imposter.asked).toEqual([]);
    await imposter.stop();
  });
});
