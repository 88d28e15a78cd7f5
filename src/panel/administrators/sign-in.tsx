// Signing in with name and password, then with a code if there is a second factor; and signing out.

/** @jsxImportSource preact */

import type { Call, Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { DemoSignIns } from "../../web/components/demo-sign-ins.tsx";
import { Field, Form } from "../../web/components/fields.tsx";
import type { Panel } from "../server/panel.ts";
import { redirect } from "../../web/server/response.ts";

export function signInPage(call: Call, { demo }: Panel): View | Response {
  const { visitor, filters } = call;
  if (visitor.isSignedIn() && !visitor.identity().session.awaitsCode) return redirect("/");
  const next = filters.raw("next");
  return {
    title: "Sign in",
    body: (
      <div class="narrow">
        <h1>Sign in</h1>
        <DemoSignIns demo={demo} />
        <Form action="/sign-in" submit="Sign in" hidden={next === "" ? {} : { next }}>
          <Field name="name" label="Name" autocomplete="username" required />
          <Field
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            required
          />
        </Form>
        <p class="hint">
          No account yet, or a forgotten password: someone with a terminal on the server runs{" "}
          <code>reseller panel invite NAME</code> or <code>reseller panel password NAME</code>.
        </p>
      </div>
    ),
  };
}

export async function signIn({ form, visitor }: Submission): Promise<Redirect> {
  const name = form.text("name", 100).toLowerCase();
  const password = form.secret("password");
  if (password === "") form.addError("password", "password is required");
  form.check();
  const { awaitsCode, cookie } = await visitor.signIn(name, password);
  const next = pathOf(form.raw("next"));
  return { to: awaitsCode ? `/sign-in/code?${new URLSearchParams({ next })}` : next, cookie };
}

export function codePage({ visitor, filters }: Call): View | Response {
  if (!visitor.isSignedIn()) return redirect("/sign-in");
  if (!visitor.identity().session.awaitsCode) return redirect("/");
  return {
    title: "Second factor",
    body: (
      <div class="narrow">
        <h1>Second factor</h1>
        <Form
          action="/sign-in/code"
          submit="Continue"
          hidden={{ next: pathOf(filters.raw("next")) }}
        >
          <Field
            name="code"
            label="Code"
            hint="Six digits from your authenticator, or a recovery code."
            autocomplete="one-time-code"
            required
          />
        </Form>
        <Form action="/sign-out">
          <p>
            <button>Sign in as someone else</button>
          </p>
        </Form>
      </div>
    ),
  };
}

export async function passCode({ form, visitor }: Submission): Promise<Redirect> {
  if (!visitor.isSignedIn() || !visitor.identity().session.awaitsCode) return { to: "/sign-in" };
  const code = form.text("code", 40);
  form.check();
  const cookie = await visitor.passCode(code);
  return { to: pathOf(form.raw("next")), cookie };
}

export async function signOut({ visitor }: Submission): Promise<Redirect> {
  return { to: "/sign-in", cookie: await visitor.signOut() };
}

/** Returns a path of the panel, so that whoever makes a link cannot choose another site as the target of signing in. */
function pathOf(next: string): string {
  const base = "http://panel";
  if (!next.startsWith("/") || !URL.canParse(next, base)) return "/";
  const { origin, pathname, search } = new URL(next, base);
  // `/..//host` has this origin, but its normalized path is a link to that host.
  return origin === base && !pathname.startsWith("//") ? pathname + search : "/";
}
