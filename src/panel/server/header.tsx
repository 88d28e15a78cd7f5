// The head of the panel's pages: navigation, and the signed-in administrator.

/** @jsxImportSource preact */

import { mayAct, type Role } from "../../domain/administrators/administrators.ts";
import { Form } from "../../web/components/fields.tsx";

interface Administrator {
  name: string;
  role: Role;
}

/** An entry of the navigation. */
export interface Link {
  path: string;
  text: string;
  role: Role;
  /** Paths of other pages that belong to it. */
  also: readonly string[];
}

interface Waiting {
  count: number;
  /** Such as `Requests that wait for you`. */
  text: string;
}

interface Head {
  administrator: Administrator;
  /** Path of the request. */
  path: string;
  navigation: { daily: readonly Link[]; settings: readonly Link[] };
  /** What waits for a decision, by the path of its page. */
  waiting: Readonly<Record<string, Waiting>>;
}

export function Header(head: Head) {
  return (
    <>
      <form class="search" method="get" action="/search" role="search" aria-label="Search">
        <input
          type="search"
          name="q"
          id="search"
          aria-label="Search orders, resellers, members, services, providers and keys"
          placeholder="Order, link, reseller, service, key"
          maxlength={200}
          data-key="/"
          data-finds="/search/list"
        />
        <button>Find</button>
        <output class="hidden" />
      </form>
      <input type="checkbox" id="menu" class="hidden" />
      <label for="menu" class="button">
        Menu
      </label>
      <Navigation {...head} />
      <SignedIn administrator={head.administrator} />
    </>
  );
}

function Navigation({ administrator, path, navigation, waiting }: Head) {
  const linksOf = (links: readonly Link[]) =>
    links
      .filter(({ role }) => mayAct(administrator.role, role))
      .map((link) => ({ ...link, waits: waiting[link.path] }))
      .map(({ waits, ...link }) => (
        <li>
          <a
            href={link.path}
            aria-current={
              [link.path, ...link.also].some((each) => isBelow(path, each)) ? "page" : undefined
            }
          >
            {link.text}
          </a>
          {waits !== undefined && waits.count > 0 && (
            <span class="badge busy" title={waits.text}>
              {waits.count}
            </span>
          )}
        </li>
      ));
  return (
    <nav aria-label="Pages">
      <ul>{linksOf(navigation.daily)}</ul>
      <h2 id="settings">Settings</h2>
      <ul aria-labelledby="settings">{linksOf(navigation.settings)}</ul>
    </nav>
  );
}

function isBelow(path: string, link: string): boolean {
  return link === "/" ? path === "/" : path === link || path.startsWith(`${link}/`);
}

function SignedIn({ administrator: { name, role } }: { administrator: Administrator }) {
  return (
    <div class="who">
      <a href="/account">
        {name} <small>{role}</small>
      </a>
      <Form action="/sign-out">
        <button>Sign out</button>
      </Form>
    </div>
  );
}
