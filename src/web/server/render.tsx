// Renders a view in its document as a response.

/** @jsxImportSource preact */

import { PlainAddresses, Zone } from "../components/shown.tsx";
import { Errors, ReadOnly, Refused, type RefusedForm } from "../components/fields.tsx";
import type { Call } from "./call.ts";
import { type ConfirmationNeeded, ConfirmationPage } from "./confirmation.tsx";
import type { Form } from "./form.ts";
import { documentOf } from "./layout.tsx";
import { endedNote, readNote } from "./notes.ts";
import { pageResponse, withCookies } from "./response.ts";
import type { Site, SiteParts } from "./site.ts";
import type { View } from "./results.ts";
import type { Visitor } from "../sessions/visitor.ts";
import { ENGLISH } from "./words.ts";

/** Renders a view. `refused`: the refused form, which the page shows again. */
export function viewOf<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  { path, visitor }: Call<Who>,
  { title, body, status = 200, cookie }: View,
  refused: { action: string; form: Form } | null,
): Response {
  const { isSecure } = site.parts.settings;
  const note = visitor.isRefresh() ? null : readNote(visitor.request, site.cookie, isSecure);
  const { words } = visitor;
  const zone = site.zone?.(visitor) ?? null;
  const frame = { ...frameOf(site, visitor, path), words, zone, title, note };
  const again: RefusedForm | null = refused && { ...refused, labels: new Map() };
  const page = (
    <Zone.Provider value={zone ?? "UTC"}>
      <PlainAddresses.Provider value={isPublicDemo(site)}>
        <ReadOnly.Provider value={site.isReadOnly?.(visitor) ?? false}>
          <Refused.Provider value={again}>{body}</Refused.Provider>
        </ReadOnly.Provider>
      </PlainAddresses.Provider>
    </Zone.Provider>
  );
  let text = documentOf(frame, page);
  if (again) {
    // The errors stand above the fields, whose labels are known only now.
    text = documentOf(
      frame,
      <>
        {!again.isShown && <Errors id={null} form={again.form} />}
        {page}
      </>,
    );
  }
  return withCookies(pageResponse(status, text), [
    cookie,
    note === null ? undefined : endedNote(site.cookie, isSecure),
  ]);
}

export function confirmationOf<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  call: Call<Who>,
  back: string,
  form: Form,
  needed: ConfirmationNeeded,
): Response {
  const body = (
    <ConfirmationPage
      now={site.parts.now()}
      action={call.path}
      name={call.visitor.name}
      {...{ back, form, needed }}
    />
  );
  const refused = form.errors.size > 0 ? { action: call.path, form } : null;
  const status = refused ? 422 : 200;
  return viewOf(site, call, { title: needed.confirmation.title, body, status }, refused);
}

export function failureOf<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  status: number,
  message: string,
  visitor: Who | null,
): Response {
  const words = visitor?.words ?? ENGLISH;
  const title = words.error(status);
  const body = (
    <>
      <h1>{title}</h1>
      <p>{message}</p>
      <p>
        <a href="/">{words.toSite}</a>
      </p>
    </>
  );
  return pageResponse(status, documentOf({ ...frameOf(site, visitor, ""), words, title }, body));
}

function frameOf<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  visitor: Who | null,
  path: string,
) {
  const header = site.header(visitor, path);
  const own = site.banner?.(visitor);
  const words = visitor?.words ?? ENGLISH;
  const banner = isPublicDemo(site) ? (
    <>
      <p class="notice busy">{words.parts.demo.everybody}</p>
      {own}
    </>
  ) : (
    own
  );
  return { site, side: visitor?.side ?? "", header, banner };
}

function isPublicDemo<Who extends Visitor, Parts extends SiteParts, Role>({
  parts: { demo },
}: Site<Who, Parts, Role>): boolean {
  return demo != null && demo.isOpen !== null;
}
