// The head of the portal's pages: navigation, the balance, and the signed-in member.

/** @jsxImportSource preact */

import { Form } from "../../web/components/fields.tsx";
import { ContactLink } from "../parts/welcome.tsx";
import type { Link } from "./navigation.ts";
import { TEST_SIDE, type Visitor } from "./visitor.ts";

export function Header({
  visitor,
  path,
  navigation,
  contact,
}: {
  visitor: Visitor;
  /** Path of the request. */
  path: string;
  navigation: readonly Link[];
  /** The operator's contact; null: none. */
  contact: string | null;
}) {
  const { t, formats, member, reseller } = visitor;
  return (
    <>
      <input type="checkbox" id="menu" class="hidden" />
      <label for="menu" class="button">
        {t("site.menu")}
      </label>
      <nav aria-label={t("site.pages")}>
        <ul>
          {navigation
            .filter(({ permission }) => visitor.may(permission))
            .map((link) => (
              <li>
                <a
                  href={link.path}
                  aria-current={
                    [link.path, ...link.also].some((each) => isBelow(path, each))
                      ? "page"
                      : undefined
                  }
                >
                  {t(link.text)}
                </a>
              </li>
            ))}
        </ul>
        {contact !== null && (
          <p class="hint">
            {t("site.contact")}
            <br />
            <ContactLink contact={contact} />
          </p>
        )}
      </nav>
      <div class="who last">
        <TestSwitch
          visitor={visitor}
          at={navigation.find((link) => isBelow(path, link.path))?.path}
        />
        <span title={t("site.balance")}>
          <span class="hidden">{t("site.balance")}: </span>
          {formats.cents(reseller.balanceMicros)}
        </span>
        <a href="/settings">{member.name}</a>
        {visitor.inspection === null && (
          <Form action="/../sign-out">
            <button>{t("site.signOut")}</button>
          </Form>
        )}
      </div>
    </>
  );
}

/** Leads to the other side. `at`: the page of the navigation that is shown; absent: the first one. */
function TestSwitch({ visitor, at = "/" }: { visitor: Visitor; at?: string | undefined }) {
  const { t } = visitor;
  if (visitor.isTest) return <a href={`/..${at}`}>{t("test.leave")}</a>;
  if (visitor.hasTestSide()) return <a href={TEST_SIDE + at}>{t("test.enter")}</a>;
  if (!visitor.may("keys") || visitor.inspection !== null) return null;
  return (
    <Form action="/test-mode">
      <button>{t("test.enter")}</button>
    </Form>
  );
}

/** Says on every page of the test side that nothing on it is real. */
export function TestBanner({ visitor: { t } }: { visitor: Visitor }) {
  return (
    <p class="notice busy">
      <strong>{t("test.mode")}</strong> {t("test.text")} <a href="/../">{t("test.leave")}</a>
    </p>
  );
}

function isBelow(path: string, link: string): boolean {
  return link === "/" ? path === "/" : path === link || path.startsWith(`${link}/`);
}
