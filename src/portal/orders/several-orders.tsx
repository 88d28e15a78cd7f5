// Several orders at once, as lines. What they cost, and every error by its line, is shown before anything is placed. The
// token of the form that places them is its idempotency key: sent twice, it places them once.

/** @jsxImportSource preact */

import type { Reader } from "../../db/port/port.ts";
import { isMistypedMagicLink } from "../../domain/orders/sandbox.ts";
import { attempt, Refusal } from "../../domain/values/error-table.ts";
import { LINK, QUANTITY } from "../../domain/values/kinds.ts";
import { BATCH_LIMIT } from "../../domain/values/limits.ts";
import { previewMemberOrders } from "../../operations/members/portal-orders.ts";
import { Area, Form } from "../../web/components/fields.tsx";
import { Facts, List } from "../../web/components/lists.tsx";
import { Typed, TypedLink } from "../../web/components/shown.tsx";
import { random } from "../../web/server/random.ts";
import { shownRefusal } from "../../web/server/refusals.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { hashOf, limitsOf, requireService, TOKEN, TOKEN_BYTES } from "./new-order.tsx";

const ROWS = 8;

/** An order as it was typed. */
interface Line {
  /** From 1, empty lines counted. */
  number: number;
  text: string;
  /** Null: the line is wrong. */
  order: { service: string; link: string; quantity: number | null } | null;
  error: string | null;
}

/** A line with what it costs; null for a wrong one. */
interface Checked extends Line {
  chargeMicros: number | null;
  serviceName: string | null;
}

export function severalOrdersPage({ visitor }: Call): View {
  const { t } = visitor;
  return {
    title: t("several.title"),
    body: (
      <div class="narrow">
        <h1>{t("several.title")}</h1>
        <Lines visitor={visitor} />
        <p>
          <a href="/services">{t("services.title")}</a>
        </p>
      </div>
    ),
  };
}

function Lines({ visitor: { t }, text = "" }: { visitor: Visitor; text?: string }) {
  return (
    <Form action="/new-orders" submit={t("several.check")}>
      <Area
        name="lines"
        label={t("several.lines")}
        hint={t("several.hint", { count: BATCH_LIMIT })}
        rows={ROWS}
        value={text}
        required
      />
    </Form>
  );
}

/**
 * Shows the orders for review. If the form has the token of that review and no line is wrong, places them instead.
 */
export async function placeOrders(
  submission: Submission,
  portal: Portal,
): Promise<View | Redirect> {
  const { form, visitor } = submission;
  const { t } = visitor;
  const text = form.secret("lines").replaceAll("\r\n", "\n");
  const typed = text.split("\n").flatMap((each, index) => {
    return each.trim() === "" ? [] : [{ number: index + 1, text: each.trim() }];
  });
  if (typed.length === 0) form.addError("lines", t("field.required"));
  if (typed.length > BATCH_LIMIT) {
    form.addError("lines", t("several.tooMany", { count: BATCH_LIMIT }));
  }
  form.check();
  const token = form.raw("token");
  const { lines, limits } = await submission.read((reader) => ({
    lines: reader.each(typed, (each) => lineOf(reader, visitor, each)),
    limits: limitsOf(reader, visitor, portal),
  }));
  const orders = lines.flatMap(({ order }) => (order === null ? [] : [order]));
  if (!TOKEN.test(token) || orders.length < lines.length) {
    return submission.read((reader) => reviewView(reader, visitor, text, lines, portal.now()));
  }
  const totalMicros = Number(form.raw("total"));
  const { orderIds, replayed } = await submission.submit("placeMemberOrders", {
    orders,
    totalMicros,
    ...(limits && { limits }),
    claim: { key: `portal:${token}`, requestHash: hashOf({ orders, totalMicros }) },
  });
  const count = orderIds.length;
  return { to: "/orders", note: t(replayed ? "several.sentBefore" : "several.placed", { count }) };
}

/** Reads `service number | link | quantity`. A service that is ordered as a whole has no quantity. */
function lineOf(
  reader: Reader,
  visitor: Visitor,
  { number, text }: Pick<Line, "number" | "text">,
): Line {
  const { t } = visitor;
  const parts = text.split("|").map((part) => part.trim());
  const wrong = (error: string): Line => ({ number, text, order: null, error });
  if (parts.length < 2 || parts.length > 3) return wrong(t("several.lineWrong"));
  const [service, givenLink, givenQuantity = ""] = parts as [string, string, string?];
  const link = LINK.read(givenLink);
  if ("must" in link) return wrong(`${t("orders.link")}: ${t("field.wrong")}`);
  if (visitor.isTest && isMistypedMagicLink(link.value)) return wrong(t("test.linkWrong"));
  const quantity = givenQuantity === "" ? { value: null } : QUANTITY.read(givenQuantity);
  if ("must" in quantity) return wrong(`${t("orders.quantity")}: ${t("field.wrong")}`);
  const found = attempt(() => requireService(reader, visitor, service));
  if (found instanceof Refusal) return wrong(visitor.words.refusal(found));
  const order = { service: found.id, link: link.value, quantity: quantity.value };
  return { number, text, order, error: null };
}

/** Shows what each order costs or what is wrong with it, the total, and the balance after it. */
function reviewView(
  reader: Reader,
  visitor: Visitor,
  text: string,
  lines: readonly Line[],
  now: number,
): View {
  const { t, formats, account } = visitor;
  const orders = lines.map(({ order }) => order && { ...order, resellerAccount: account });
  const { previews, balanceMicros } = previewMemberOrders(reader, orders, account, now);
  const checked = lines.map((line, index) => checkedLine(visitor, line, previews[index] ?? null));
  const right = checked.filter(({ error }) => error === null);
  const total = right.reduce((sum, { chargeMicros }) => sum + chargeMicros!, 0);
  const [count, amount] = [right.length, formats.money(total)];
  const isAll = count === lines.length;
  return {
    title: t("several.reviewTitle"),
    status: isAll ? 200 : 422,
    body: (
      <>
        <h1>{t("several.reviewTitle")}</h1>
        {!isAll && (
          <p class="notice bad" role="alert">
            {t("several.someWrong", { count: lines.length - count })}
          </p>
        )}
        <CheckedLines visitor={visitor} lines={checked} />
        {count > 0 && (
          <section class="card">
            <Facts
              facts={[
                [t("several.total"), <strong>{amount}</strong>],
                [t("newOrder.balanceAfter"), formats.money(balanceMicros - BigInt(total))],
              ]}
            />
            <Form
              action="/new-orders"
              id="place"
              submit={t(isAll ? "several.place" : "several.placeRight", { count, amount })}
              hidden={{
                lines: right.map((line) => line.text).join("\n"),
                total,
                token: random(TOKEN_BYTES),
              }}
            />
          </section>
        )}
        <h2>{t("newOrder.change")}</h2>
        <Lines visitor={visitor} text={text} />
      </>
    ),
  };
}

function checkedLine(
  visitor: Visitor,
  line: Line,
  preview: ReturnType<typeof previewMemberOrders>["previews"][number],
): Checked {
  const nothing = { chargeMicros: null, serviceName: null };
  if (preview === null) return { ...line, ...nothing };
  if (preview instanceof Refusal) return { ...line, ...nothing, error: errorOf(visitor, preview) };
  const { service, chargeMicros } = preview;
  return { ...line, chargeMicros, serviceName: service.name };
}

const FIELDS = new Set(["link", "quantity"]);

/** Returns what is wrong, after the name of the part that is wrong. */
function errorOf({ t, words }: Visitor, refused: Refusal): string {
  const { message, field } = shownRefusal(refused, FIELDS, words);
  if (field === "link" || field === "quantity") return `${t(`orders.${field}`)}: ${message}`;
  const needsMore = refused.code === "field_missing" || refused.code === "field_invalid";
  return needsMore ? t("several.needsMore") : message;
}

function CheckedLines({ visitor, lines }: { visitor: Visitor; lines: readonly Checked[] }) {
  const { t, formats } = visitor;
  return (
    <List
      caption={t("several.lines")}
      rows={lines}
      empty={t("site.none")}
      columns={[
        {
          heading: t("several.line"),
          number: true,
          cell: ({ number }) => formats.number(number),
        },
        {
          heading: t("orders.service"),
          cell: ({ serviceName, text }) => <Typed text={serviceName ?? text} />,
        },
        {
          heading: t("orders.link"),
          cell: ({ order }) => order && <TypedLink text={order.link} short />,
        },
        {
          heading: t("orders.quantity"),
          number: true,
          cell: ({ order }) =>
            order?.quantity == null ? <span class="none">–</span> : formats.number(order.quantity),
        },
        {
          heading: t("orders.charge"),
          number: true,
          cell: ({ chargeMicros, error }) =>
            error === null ? formats.money(chargeMicros!) : <strong class="error">{error}</strong>,
        },
      ]}
    />
  );
}
