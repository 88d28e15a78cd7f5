// Renders a view in its document as a response.

/** @jsxImportSource preact */

import type { Administrator, Call, Panel, View } from "./call.ts";
import { type ConfirmationNeeded, ConfirmationPage } from "../../web/server/confirmation.tsx";
import { Errors, Refused, type RefusedForm } from "../../web/components/fields.tsx";
import type { Form } from "../../web/server/form.ts";
import { documentOf } from "./layout.tsx";
import { links } from "./navigation.ts";
import { endedNote, readNote } from "./notes.ts";
import { pageResponse, withCookies } from "../../web/server/response.ts";
import type { Visitor } from "./visitor.ts";

/** Renders a view. `refused`: the form of the page that is shown again. */
export function viewOf(
  panel: Panel,
  call: Call,
  { title, body, status = 200, cookie }: View,
  refused: { action: string; form: Form } | null,
): Response {
  const { path, visitor } = call;
  const { isSecure } = panel.settings;
  const note = visitor.isRefresh() ? null : readNote(visitor.request, isSecure);
  const frame = { title, administrator: signedIn(visitor), path, links: links(), note };
  const again: RefusedForm | null = refused && { ...refused };
  const page = <Refused.Provider value={again}>{body}</Refused.Provider>;
  let text = documentOf(frame, page);
  if (again && !again.isShown) {
    text = documentOf(
      frame,
      <>
        <Errors id={null} form={again.form} />
        {page}
      </>,
    );
  }
  return withCookies(pageResponse(status, text), [
    cookie,
    note === null ? undefined : endedNote(isSecure),
  ]);
}

export function confirmationOf(
  panel: Panel,
  call: Call,
  back: string,
  form: Form,
  needed: ConfirmationNeeded,
): Response {
  const body = (
    <ConfirmationPage
      now={panel.now()}
      action={call.path}
      name={call.administrator.name}
      {...{ back, form, needed }}
    />
  );
  const refused = form.errors.size > 0 ? { action: call.path, form } : null;
  const status = refused ? 422 : 200;
  return viewOf(panel, call, { title: needed.confirmation.title, body, status }, refused);
}

export function failureOf(status: number, message: string, visitor: Visitor | null): Response {
  const title = `Error ${status}`;
  const body = (
    <>
      <h1>{title}</h1>
      <p>{message}</p>
      <p>
        <a href="/">To the panel</a>
      </p>
    </>
  );
  const administrator = visitor && signedIn(visitor);
  return pageResponse(status, documentOf({ title, administrator, path: "", links: links() }, body));
}

/** Returns the signed-in administrator, or null if nobody is signed in or a code is still expected. */
function signedIn(visitor: Visitor): Administrator | null {
  return visitor.isSignedIn() ? visitor.identity().administrator : null;
}
