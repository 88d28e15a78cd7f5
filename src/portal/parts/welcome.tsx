// The frame of pages that need no sign-in: narrow, with the languages and the contact below.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { LANGUAGE_NAMES, LANGUAGES } from "../../domain/members/languages.ts";
import { Form } from "../../web/components/fields.tsx";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";

export function Welcome({
  visitor,
  portal,
  title,
  children,
}: {
  visitor: Visitor;
  portal: Portal;
  title: string;
  children: ComponentChildren;
}) {
  return (
    <div class="narrow">
      <h1>{title}</h1>
      {children}
      <Contact visitor={visitor} portal={portal} />
      <Form action="/language">
        <p class="inline" aria-label={visitor.t("field.language")} role="group">
          {LANGUAGES.map((language) => (
            <button
              name="language"
              value={language}
              lang={language}
              disabled={language === visitor.language}
            >
              {LANGUAGE_NAMES[language]}
            </button>
          ))}
        </p>
      </Form>
    </div>
  );
}

/** The operator's contact, as a link. */
export function Contact({
  visitor: { t },
  portal: { settings },
}: {
  visitor: Pick<Visitor, "t">;
  portal: Pick<Portal, "settings">;
}) {
  const { contact } = settings;
  if (contact === null) return null;
  return (
    <p class="hint">
      {t("site.contact")}: <ContactLink contact={contact} />
    </p>
  );
}

export function ContactLink({ contact }: { contact: string }) {
  const isUrl = contact.startsWith("https://");
  return (
    <a href={isUrl ? contact : `mailto:${contact}`} rel="noopener noreferrer">
      {isUrl ? contact.slice("https://".length) : contact}
    </a>
  );
}
