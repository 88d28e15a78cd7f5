// Signing in with e-mail address and password, then with a code if there is a second factor; and signing out.

/** @jsxImportSource preact */

import { LANGUAGES } from "../../domain/members/languages.ts";
import { parseEmail } from "../../domain/members/members.ts";
import { DemoSignIns } from "../../web/components/demo-sign-ins.tsx";
import { Field, Form } from "../../web/components/fields.tsx";
import { setCookie } from "../../web/sessions/cookies.ts";
import { redirect } from "../../web/server/response.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Welcome } from "../parts/welcome.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import { LANGUAGE_COOKIE } from "../server/visitor.ts";

export function signInPage(call: Call, portal: Portal): View | Response {
  const { visitor, filters } = call;
  const { t } = visitor;
  if (visitor.isSignedIn() && !visitor.identity().session.awaitsCode) return redirect("/");
  const { registration } = portal.settings;
  const next = filters.raw("next");
  return {
    title: t("signIn.title"),
    body: (
      <Welcome visitor={visitor} portal={portal} title={t("signIn.title")}>
        <DemoSignIns demo={portal.demo} />
        <Form
          action="/sign-in"
          submit={t("signIn.submit")}
          hidden={next === "" ? {} : { next: pathOf(next) }}
        >
          <Field
            name="email"
            label={t("field.email")}
            autocomplete="username"
            inputmode="text"
            required
          />
          <Field
            name="password"
            label={t("field.password")}
            type="password"
            autocomplete="current-password"
            required
          />
        </Form>
        <p>
          <a href="/forgotten">{t("signIn.forgotten")}</a>
        </p>
        {registration !== "off" && (
          <p>
            <a href="/register">
              {t(registration === "open" ? "signIn.registerOpen" : "signIn.register")}
            </a>
          </p>
        )}
      </Welcome>
    ),
  };
}

export async function signIn({ form, visitor }: Submission): Promise<Redirect> {
  const { t } = visitor;
  const typed = form.text("email");
  const password = form.secret("password");
  if (password === "") form.addError("password", t("field.required"));
  form.check();
  // An address that cannot be one is answered like an unknown one.
  const { awaitsCode, cookie } = await visitor.signIn(parseEmail(typed) ?? typed, password);
  const next = pathOf(form.raw("next"));
  return { to: awaitsCode ? `/sign-in/code?${new URLSearchParams({ next })}` : next, cookie };
}

export function codePage({ visitor, filters }: Call, portal: Portal): View | Response {
  const { t } = visitor;
  if (!visitor.isSignedIn()) return redirect("/sign-in");
  if (!visitor.identity().session.awaitsCode) return redirect("/");
  return {
    title: t("code.title"),
    body: (
      <Welcome visitor={visitor} portal={portal} title={t("code.title")}>
        <Form
          action="/sign-in/code"
          submit={t("site.continue")}
          hidden={{ next: pathOf(filters.raw("next")) }}
        >
          <Field
            name="code"
            label={t("field.code")}
            hint={t("field.codeHint")}
            autocomplete="one-time-code"
            required
          />
        </Form>
        <Form action="/sign-out">
          <p>
            <button>{t("signIn.other")}</button>
          </p>
        </Form>
      </Welcome>
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

/** Keeps the language that a visitor chooses before signing in, and shows the same page again. */
export function chooseLanguage({ form, visitor }: Submission, portal: Portal): Redirect {
  const language = form.choice("language", LANGUAGES);
  form.check();
  const { isSecure } = portal.settings;
  const path = portal.prefix === "" ? "/" : portal.prefix;
  const cookie = setCookie(isSecure, LANGUAGE_COOKIE, language, path);
  return { to: pageBefore(visitor.request.headers.get("referer"), portal), cookie };
}

/** Returns the page that sent a form; the sign-in if the browser does not tell, or tells of no page of the portal. */
function pageBefore(referer: string | null, { prefix }: Portal): string {
  if (referer === null || !URL.canParse(referer)) return "/sign-in";
  const { pathname, search } = new URL(referer);
  if (!pathname.startsWith(`${prefix}/`)) return "/sign-in";
  const page = pathOf(pathname.slice(prefix.length) + search);
  return page === "/" ? "/sign-in" : page;
}

/** Returns a path of the portal, so that whoever makes a link cannot choose another site as the target. */
function pathOf(next: string): string {
  const base = "http://portal";
  if (!next.startsWith("/") || !URL.canParse(next, base)) return "/";
  const { origin, pathname, search } = new URL(next, base);
  return origin === base && !pathname.startsWith("//") ? pathname + search : "/";
}
