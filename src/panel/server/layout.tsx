// The document around every page: head, navigation, and the signed-in administrator.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { SCRIPT, STYLE } from "../../web/server/assets.ts";
import { showHidden } from "../../domain/values/text.ts";
import type { Administrator } from "./call.ts";
import { Form } from "../../web/components/fields.tsx";

interface Frame {
  title: string;
  /** Null on pages before sign-in. */
  administrator: Administrator | null;
  /** Path of the request. */
  path: string;
  links: readonly Link[];
  /** Result of the last action. */
  note?: string | null;
}

/** An entry of the navigation. */
export interface Link {
  path: string;
  text: string;
  role: Administrator["role"];
}

export function documentOf(frame: Frame, body: ComponentChildren): string {
  return `<!doctype html>${renderToString(<Document {...frame}>{body}</Document>)}`;
}

function Document({
  title,
  administrator,
  path,
  links,
  note = null,
  children,
}: Frame & { children?: ComponentChildren }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${showHidden(title)} – reseller`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={STYLE.path} />
        <script src={SCRIPT.path} defer />
      </head>
      <body>
        <a class="skip" href="#content">
          To the content
        </a>
        <header>
          <strong>reseller</strong>
          {administrator && <Navigation {...{ administrator, path, links }} />}
          {administrator && <SignedIn administrator={administrator} />}
        </header>
        <main id="content">
          {note !== null && (
            <p class="notice good" role="status">
              {showHidden(note)}
            </p>
          )}
          {children}
        </main>
      </body>
    </html>
  );
}

function Navigation({
  administrator,
  path,
  links,
}: Pick<Frame, "path" | "links"> & { administrator: Administrator }) {
  const isBelow = (link: string) =>
    link === "/" ? path === "/" : path === link || path.startsWith(`${link}/`);
  return (
    <nav aria-label="Pages">
      <ul>
        {links
          .filter(({ role }) => mayAct(administrator.role, role))
          .map((link) => (
            <li>
              <a href={link.path} aria-current={isBelow(link.path) ? "page" : undefined}>
                {link.text}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
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
