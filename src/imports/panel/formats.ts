// Ready mappings for the tables of common panel scripts. Each names the public source that its names were checked
// against. docs/specification/imports.md#import-formats.

import { type GivenMap, PANEL_FIELDS, PANEL_TABLES, type PanelTable } from "./map.ts";

/** Each field is in the column of its own name. */
const sameNames = (table: PanelTable) => ({
  columns: Object.fromEntries(PANEL_FIELDS[table].map((field) => [field, field])),
});

const ON_OFF_2_1 = { "2": "yes", "1": "no" };

export const FORMATS = {
  csv: Object.fromEntries(PANEL_TABLES.map((table) => [table, sameNames(table)])) as GivenMap,

  // Checked against database/database.sql of BeingAliAbbas/smm-panel-script, a public copy of SmartPanel's tables.
  // Customers sign in by e-mail, so that is their username.
  smartpanel: {
    users: {
      table: "general_users",
      columns: {
        id: "id",
        username: "email",
        name: ["first_name", "last_name"],
        email: "email",
        balance: "balance",
        active: "status",
      },
      only: { role: ["user"] },
    },
    keys: {
      table: "general_users",
      columns: { user: "id", key: "api_key" },
      only: { role: ["user"] },
    },
    services: {
      table: "services",
      columns: {
        number: "id",
        name: "name",
        category: "cate_id",
        price: "price",
        min: "min",
        max: "max",
        type: "type",
        dripfeed: "dripfeed",
        active: "status",
        provider: "api_provider_id",
        providerService: "api_service_id",
      },
      lookups: { category: { table: "categories", key: "id", value: "name" } },
    },
    orders: {
      table: "orders",
      columns: {
        number: "id",
        user: "uid",
        service: "service_id",
        link: "link",
        quantity: "quantity",
        charge: "charge",
        status: "status",
        startCount: "start_counter",
        remains: "remains",
        createdAt: "created",
        provider: "api_provider_id",
        providerService: "api_service_id",
        providerOrder: "api_order_id",
      },
      values: { status: { active: "open", awaiting: "open" } },
    },
  },

  // Checked against Demo.sql of muaz744/muazahmad1.github.io, a public dump of a script with the tables `clients`,
  // `services` and `orders` and columns such as `order_charge`.
  clients: {
    users: {
      table: "clients",
      columns: {
        id: "client_id",
        username: "username",
        name: "name",
        email: "email",
        balance: "balance",
        active: "client_type",
      },
      values: { active: ON_OFF_2_1 },
      only: { admin_type: ["2"] },
    },
    keys: {
      table: "clients",
      columns: { user: "client_id", key: "apikey" },
      only: { admin_type: ["2"] },
    },
    services: {
      table: "services",
      columns: {
        number: "service_id",
        name: "service_name",
        category: "category_id",
        price: "service_price",
        min: "service_min",
        max: "service_max",
        type: "service_package",
        dripfeed: "service_dripfeed",
        active: "service_type",
        provider: "service_api",
        providerService: "api_service",
        cancel: "cancelbutton",
        refill: "show_refill",
      },
      values: {
        active: ON_OFF_2_1,
        dripfeed: ON_OFF_2_1,
        cancel: { "1": "yes", "2": "no" },
        // What the script's page of a service calls them: default, package, custom comments.
        type: { "1": "default", "2": "package", "3": "custom_comments" },
      },
      lookups: { category: { table: "categories", key: "category_id", value: "category_name" } },
    },
    orders: {
      table: "orders",
      columns: {
        number: "order_id",
        user: "client_id",
        service: "service_id",
        link: "order_url",
        quantity: "order_quantity",
        charge: "order_charge",
        status: "order_status",
        startCount: "order_start",
        remains: "order_remains",
        createdAt: "order_create",
        provider: "order_api",
        providerService: "api_serviceid",
        providerOrder: "api_orderid",
      },
    },
  },

  // Checked against install-files/install-old.sql of saadf68261/smm: the tables `users`, `services` and `orders`.
  users: {
    users: {
      table: "users",
      columns: {
        id: "id",
        username: "username",
        name: "name",
        email: "email",
        balance: "balance",
        active: "status",
      },
      values: { active: { Active: "yes", Inactive: "no" } },
      only: { role: ["USER"] },
    },
    keys: { table: "users", columns: { user: "id", key: "api_key" }, only: { role: ["USER"] } },
    services: {
      table: "services",
      columns: {
        number: "id",
        name: "name",
        category: "category_id",
        price: "price",
        min: "min",
        max: "max",
        type: "type",
        dripfeed: "dripfeed",
        active: "status",
        provider: "api_provider_id",
        providerService: "api_service_id",
      },
      lookups: { category: { table: "categories", key: "id", value: "name" } },
    },
    orders: {
      table: "orders",
      columns: {
        number: "id",
        user: "user_id",
        service: "service_id",
        link: "link",
        quantity: "quantity",
        charge: "charge",
        status: "status",
        startCount: "start_counter",
        remains: "remains",
        createdAt: "created_at",
        provider: "api_provider_id",
        providerService: "api_service_id",
        providerOrder: "api_order_id",
      },
    },
  },

  // Not checked against a source: PerfectPanel is rented and publishes none. These are the headings of its lists.
  perfectpanel: {
    users: {
      columns: {
        id: "ID",
        username: "Username",
        balance: "Balance",
        discount: "Discount",
        active: "Status",
      },
      values: { active: { Active: "yes", Suspended: "no", Unconfirmed: "no" } },
    },
    keys: { columns: { user: "ID", key: "API key" } },
    services: {
      columns: {
        number: "ID",
        name: "Service",
        category: "Category",
        type: "Type",
        price: "Rate",
        min: "Min",
        max: "Max",
        active: "Status",
        provider: "Provider",
        providerService: "Provider service ID",
      },
      values: { active: { Enabled: "yes", Disabled: "no" } },
    },
    orders: {
      columns: {
        number: "ID",
        user: "User ID",
        service: "Service ID",
        link: "Link",
        quantity: "Quantity",
        charge: "Charge",
        status: "Status",
        startCount: "Start count",
        remains: "Remains",
        createdAt: "Created",
        provider: "Provider",
        providerOrder: "External ID",
      },
    },
  },
} as const satisfies Record<string, GivenMap>;

export type FormatName = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[];
