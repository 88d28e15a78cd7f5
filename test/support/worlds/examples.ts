// A service in which the examples of the OpenAPI document happen one after another, each with the answer that it shows.

import { expect } from "bun:test";
import catalogue from "../../../deploy/catalogue.example.csv" with { type: "text" };
import type {
  DocumentExample,
  ExampleRequest,
  OpenApiOperation,
} from "../../../src/api-docs/schemas/document.ts";
import { EVENT_ID, WEBHOOK_ID } from "../../../src/api-docs/schemas/examples.ts";
import { parseCatalogue } from "../../../src/cli/catalogue/service-import.ts";
import { parseNetwork } from "../../../src/config/networks.ts";
import { ENGINE } from "../databases/engine.ts";
import { OPERATOR } from "../databases/test-database.ts";
import { operations } from "../http/openapi.ts";
import { startReceiver } from "../peers/webhook-receiver.ts";
import { openService, type TestService } from "./service.ts";

const SHOP_URL = "https://shop.example/hooks";

/** The services that the examples show. */
const SHOWN = ["instagram-followers", "instagram-likes", "youtube-watch-hours"];

/** The operations in the order of the examples' story. */
export const STORY = [
  "listServices",
  "listServiceChanges",
  "placeOrder",
  "placeOrders",
  "listOrders",
  "getOrder",
  "getBalance",
  "listTransactions",
  "getUser",
  "recharge",
  "createWebhook",
  "listWebhooks",
  "getWebhook",
  "updateWebhook",
  "testWebhook",
  "listDeliveries",
  "replayWebhook",
  "rotateWebhook",
  "deleteWebhook",
  "cancelOrder",
  "listOrderRequests",
  "refillOrder",
  "moveTestOrder",
  "sendTestEvent",
];

export interface ExampleCall {
  method: string;
  /** Below /api/v1, with its parameters as `{id}`. */
  path: string;
  operation: OpenApiOperation;
  name: string;
  /** The status that the document shows. */
  status: number;
  example: DocumentExample;
  /** With the ids that there are. */
  request: ExampleRequest;
  key: string;
}

/** Makes a call. Without `status`, only its body is compared. */
export type Send = (call: ExampleCall) => Promise<{ status?: number; body: unknown }>;

export interface ExampleWorld {
  service: TestService;
  key: string;
  /** Makes the calls of an operation's examples by `send`, and compares their answers with the document. */
  replay(operationId: string, send: Send): Promise<void>;
  /** A text of the examples with the ids that there are. */
  withActualIds(text: string): string;
  stop(): Promise<void>;
}

export async function openExamples(): Promise<ExampleWorld> {
  const receiver = await startReceiver(
    "HTTP/1.1 503 Unavailable\r\nContent-Length: 15\r\n\r\ncome back later",
  );
  /** What the database has for the ids and the address of the examples. */
  const actualIds = new Map([[SHOP_URL, `http://127.0.0.1:${receiver.port}/hooks`]]);
  const loopback = parseNetwork("127.0.0.0/8")!;
  const service = await openService({
    settings: { webhookAllow: [loopback], webhookAllowHttp: true },
  });
  service.run("createUser", { username: "demo", name: "Demo", parent: null });
  service.run("creditUser", {
    username: "demo",
    amountMicros: 100_000_000,
    note: null,
    publicNote: "quickstart",
    actor: OPERATOR,
  });
  const key = service.key("demo", "full").text;
  const services = parseCatalogue(catalogue).filter(({ id }) => SHOWN.includes(id!));
  service.run("importServices", { services });
  service.run("updateService", { id: SHOWN[0]!, changes: { dripfeed: true } });
  const comments = {
    id: "instagram-comments",
    name: "Instagram Comments",
    type: "custom_comments",
  } as const;
  service.service({ ...comments, price: "8", min: 1, max: 1500 });
  let testKey = "";

  /** On PostgreSQL a refused order may leave a gap, and the examples count the orders that there are. */
  function closeGap(): void {
    if (ENGINE === "sqlite") return;
    const orders = service.query("SELECT order_id FROM orders").length;
    service.query(`SELECT setval('orders_number', ${Math.max(1, orders)}, ${orders > 0})`);
  }

  function withActualIds(text: string): string {
    return [...actualIds].reduce((all, [shown, actual]) => all.replaceAll(shown, actual), text);
  }

  /** Ids, times and request ids differ from run to run; that they have the right form is the schema's part. */
  function masked(value: unknown): unknown {
    return JSON.parse(
      JSON.stringify(value)
        .replaceAll(actualIds.get(SHOP_URL)!, SHOP_URL)
        .replaceAll(/"durationMs":\d+/g, '"durationMs":0')
        .replaceAll(/"[a-z0-9]{24}"/g, '"an id"')
        .replaceAll(/"evt_[a-z0-9]{24}(\.1)?"/g, '"an event"')
        .replaceAll(/"whsec_[^"]*"/g, '"a secret"')
        .replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"a time"'),
    );
  }

  /** The attempt that listDeliveries shows: what is asked for next sees it. */
  async function deliverTestWebhook(): Promise<void> {
    const id = actualIds.get(WEBHOOK_ID)!;
    for (;;) {
      const { body } = await service.call("GET", `/webhooks/${id}/deliveries`, key);
      const [delivery] = body.deliveries;
      if (delivery) return void actualIds.set(EVENT_ID, delivery.eventId);
      await Bun.sleep(5);
    }
  }

  async function placeTestOrder(): Promise<void> {
    // Not before: its money is a transfer, and the examples of the live side are numbered.
    testKey = service.key("demo", "full", "all", true).text;
    closeGap();
    const order = { service: SHOWN[0], link: "https://test.invalid/pending", quantity: 1000 };
    expect((await service.call("POST", "/orders", testKey, order)).status).toBe(200);
  }

  /** Only what was delivered can be refilled. */
  function complete(id: string): void {
    service.run("transitionOrder", { id, to: "COMPLETED", note: null, actor: OPERATOR });
  }

  /** The one example that needs more money than the story has. */
  function enrich(): void {
    service.user("rich");
    for (let credit = 0; credit < 9; credit++) {
      const amountMicros = 999_000_000_000_000;
      service.run("creditUser", { username: "rich", amountMicros, note: null, actor: OPERATOR });
    }
  }

  async function prepare(operationId: string, name: string): Promise<void> {
    if (name === "balance_too_large") enrich();
    closeGap();
    if (name === "deliveries") await deliverTestWebhook();
    if (operationId === "refillOrder" && name === "request") complete("1");
  }

  async function replay(operationId: string, send: Send): Promise<void> {
    const story = storyOf(operationId);
    expect(story.length).toBeGreaterThan(0);
    if (operationId === "moveTestOrder") await placeTestOrder();
    for (const { method, path, operation, status, name, example } of story) {
      await prepare(operationId, name);
      const text = withActualIds(JSON.stringify(example["x-request"]));
      const request = JSON.parse(text) as ExampleRequest;
      const ownKey = path.startsWith("/test/") ? testKey : key;
      const call = { method, path, operation, status, name, example, request, key: ownKey };
      const answer = await send(call);
      if (operationId === "createWebhook" && status === 200) {
        actualIds.set(WEBHOOK_ID, (answer.body as { webhook: { id: string } }).webhook.id);
      }
      expect([name, answer.status ?? status, masked(answer.body)]).toEqual([
        name,
        status,
        masked(example.value),
      ]);
    }
  }

  return {
    service,
    key,
    replay,
    withActualIds,
    stop: async () => {
      await service.stop();
      await receiver.stop();
    },
  };
}

/** The path of a call with its parameters. */
export function pathOf(path: string, { parameters = {} }: ExampleRequest): string {
  const written = path.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name]!);
  const query = Object.entries(parameters).filter(([name]) => !path.includes(`{${name}}`));
  return query.length === 0 ? written : `${written}?${new URLSearchParams(query).toString()}`;
}

/** The examples that say which request leads to them. */
function storyOf(operationId: string) {
  const { method, path, operation } = operations().find(
    (each) => each.operation.operationId === operationId,
  )!;
  return Object.entries(operation.responses).flatMap(([status, { content }]) =>
    Object.entries(content["application/json"]!.examples ?? {})
      .filter(([, example]) => example["x-request"] !== undefined)
      .map(([name, example]) => ({
        method,
        path,
        operation,
        status: Number(status),
        name,
        example,
      })),
  );
}
