// A view in its document, as a response.

import type { Administrator, Call, View } from "./call.ts";
import { type Confirmation, ConfirmationPage } from "./confirmation.tsx";
import { Refused } from "./fields.tsx";
import type { Form } from "./form.ts";
import { documentOf, type Link } from "./layout.tsx";
import { pageResponse } from "./response.ts";
import { ROUTES } from "./routes.ts";

/** Made when it is first needed: the table refers to pages, which refer to this. */
function links(): Link[] {
  return ROUTES.flatMap((route) =>
    route.method === "GET" && route.link !== undefined
      ? [{ path: route.path, text: route.link, role: route.role }]
      : [],
  );
}

/** `refused`: the form of the page that is shown again. */
export function viewOf(
  call: Call,
  { title, body, status = 200 }: View,
  refused: { action: string; form: Form } | null,
): Response {
  const { administrator, path } = call;
  return pageResponse(
    status,
    documentOf(
      { title, administrator, path, links: links() },
      <Refused.Provider value={refused}>{body}</Refused.Provider>,
    ),
  );
}

export function confirmationOf(
  call: Call,
  back: string,
  form: Form,
  confirmation: Confirmation,
): Response {
  const body = <ConfirmationPage action={call.path} {...{ back, form, confirmation }} />;
  return viewOf(call, { title: confirmation.title, body }, null);
}

export function failureOf(
  status: number,
  message: string,
  administrator: Administrator | null,
): Response {
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
  return pageResponse(status, documentOf({ title, administrator, path: "", links: links() }, body));
}
