// Forms and their fields. A refused form is shown again with what was typed and the errors beside its fields. The
// context passes the refused form to the fields, so pages need not.

/** @jsxImportSource preact */

import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { showHidden } from "../../domain/values/text.ts";
import type { Form as Values } from "../server/form.ts";
import { useWords } from "./words.ts";
import { errorText, type Labels } from "./error-text.ts";
import { type Chip, Chips, Pop } from "./page-head.tsx";

/** A form that was refused, and is shown again. */
export interface RefusedForm {
  action: string;
  form: Values;
  /** True once the page has shown the form. The page leaves the form out if its subject no longer exists. */
  isShown?: boolean;
  /** The labels of the fields that were shown, by name. */
  labels?: Labels;
}

/** The refused form of this page; null on any other page. */
export const Refused = createContext<RefusedForm | null>(null);

/** Whether forms are shown without effect: their fields and buttons are disabled. */
export const ReadOnly = createContext(false);

/** The form around the fields, with the values that they show. */
const Current = createContext<{ id: string; form: Values | null; labels?: Labels | undefined }>({
  id: "form",
  form: null,
});

/** A form that changes something. It is sent with POST to a route of the table. */
export function Form({
  action,
  children,
  submit,
  danger,
  hidden = {},
  hasFiles = false,
  id: given,
}: {
  action: string;
  /** Distinguishes forms of a page with the same action, which have different hidden values. */
  id?: string;
  children?: ComponentChildren;
  /** The button's text. Without it the form has its own buttons. */
  submit?: string;
  danger?: boolean;
  /** Values of hidden fields. */
  hidden?: Readonly<Record<string, string | number>>;
  /** Whether it has a FileField. */
  hasFiles?: boolean;
}) {
  const refused = useContext(Refused);
  const isReadOnly = useContext(ReadOnly);
  const isSent = ([name, value]: [string, string | number]) =>
    refused?.form.raw(name) === String(value);
  const isRefused =
    refused?.action === action && (given === undefined || Object.entries(hidden).every(isSent));
  if (isRefused) refused.isShown = true;
  const [form, labels] = isRefused ? [refused.form, refused.labels] : [null];
  const own = action.replace(/[^A-Za-z0-9]+/g, "-").slice(1) || "form";
  const id = given === undefined ? own : `${own}-${given}`;
  return (
    <Current.Provider value={{ id, form, labels }}>
      <form
        method="post"
        action={action}
        id={id}
        enctype={hasFiles ? "multipart/form-data" : undefined}
        novalidate
      >
        {form && <Errors id={id} form={form} labels={labels} />}
        {Object.entries(hidden).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <Fields isDisabled={isReadOnly}>
          {children}
          {submit && (
            <p class="actions">
              <button class={danger ? "danger primary" : "primary"}>{submit}</button>
            </p>
          )}
        </Fields>
      </form>
    </Current.Provider>
  );
}

function Fields({ isDisabled, children }: { isDisabled: boolean; children: ComponentChildren }) {
  if (!isDisabled) return <>{children}</>;
  return (
    <fieldset disabled class="frozen">
      {children}
    </fieldset>
  );
}

/** A form that is opened on request. A refused form is already open, so that its errors are visible. */
export function Fold({
  action,
  summary,
  children,
}: {
  /** Action of the form. */
  action: string;
  summary: string;
  children: ComponentChildren;
}) {
  const isRefused = useContext(Refused)?.action === action;
  return (
    <details open={isRefused}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}

/**
 * A form for the filters of a list, which are kept in the query string. With `chips` it is behind a button, with what
 * is set beside it.
 */
export function Filters({
  action,
  filters,
  chips,
  live,
  children,
}: {
  action: string;
  filters: Values;
  chips?: readonly Chip[];
  /** Id of the part of the page that follows what is typed, with JavaScript. */
  live?: string;
  children: ComponentChildren;
}) {
  const isSet = ([name, value]: [string, string]) =>
    name !== "below" && name !== "earlier" && value !== "";
  const words = useWords();
  const form = (
    <Current.Provider value={{ id: "filter", form: filters }}>
      <form
        method="get"
        action={action}
        class="filters"
        role="search"
        aria-label={words.filters}
        data-live={live}
      >
        {children}
        <p class="actions">
          <button class={chips ? "primary" : undefined}>{words.filter}</button>
          {[...filters.values].some(isSet) && <a href={action}>{words.clear}</a>}
        </p>
      </form>
    </Current.Provider>
  );
  if (!chips) return form;
  return (
    <>
      <Chips chips={chips} call={{ path: action, filters }} />
      <Pop button={words.filters} open={filters.errors.size > 0}>
        {form}
      </Pop>
    </>
  );
}

/**
 * The list of errors, announced by screen readers, with a link to each field. `id`: id of the form, or null if it is
 * not on the page.
 */
export function Errors({
  id,
  form,
  labels = new Map(),
}: {
  id: string | null;
  form: Values;
  labels?: Labels | undefined;
}) {
  const words = useWords();
  return (
    <div class="notice bad" role="alert">
      <p>{words.nothingChanged}</p>
      <ul>
        {[...form.errors].map(([name, message]) => {
          const text = showHidden(words.errorOf(labels.get(name), errorText(message, labels)));
          return (
            <li>{name === "" || id === null ? text : <a href={`#${id}-${name}`}>{text}</a>}</li>
          );
        })}
      </ul>
    </div>
  );
}

interface FieldProps {
  name: string;
  label: string;
  hint?: string;
  required?: boolean;
}

function useField({ name, label, hint, required }: FieldProps, value?: string | number) {
  const { id: form, form: values, labels = new Map([[name, label]]) } = useContext(Current);
  labels.set(name, label);
  const id = `${form}-${name}`;
  const message = values?.errors.get(name);
  const error = message && errorText(message, labels);
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return {
    error,
    id,
    value: values?.values.get(name) ?? value,
    attributes: {
      id,
      name,
      required,
      "aria-describedby": described || undefined,
      "aria-invalid": error ? ("true" as const) : undefined,
    },
  };
}

function Labelled({
  id,
  label,
  hint,
  error,
  children,
}: {
  id: string;
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {children}
      {error && (
        <strong class="error" id={`${id}-error`}>
          {showHidden(error)}
        </strong>
      )}
    </div>
  );
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A hidden field with the name that a password belongs to, for password managers. */
export function ForUser({ name }: { name: string }) {
  const input = { value: name, autocomplete: "username", readOnly: true, hidden: true } as object;
  return <input type="text" {...input} />;
}

/** A field of one line. A typed password is never shown again. */
export function Field(
  props: FieldProps & {
    type?: "text" | "password" | "date" | "number" | "url";
    value?: string | number;
    inputmode?: "decimal" | "numeric" | "text";
    /** What a password manager may fill in. */
    autocomplete?: string;
  },
) {
  const { label, hint, inputmode, autocomplete = "off" } = props;
  const { error, id, value, attributes } = useField(props, props.value);
  // A date field would not show an invalid date, so it is shown as text.
  const isDate = value === undefined || value === "" || DATE.test(String(value));
  const type = props.type === "date" && !isDate ? "text" : (props.type ?? "text");
  const shown = type === "password" ? undefined : value;
  // Preact's types do not accept a variable as the type of an input.
  const input = { ...attributes, type, inputmode, autocomplete, value: shown } as object;
  return (
    <Labelled {...{ id, label, hint, error }}>
      <input {...input} />
    </Labelled>
  );
}

/** A field for a file, of a form with `hasFiles`. */
export function FileField(props: FieldProps & { accept: string }) {
  const { label, hint, accept } = props;
  const { error, id, attributes } = useField(props);
  return (
    <Labelled {...{ id, label, hint, error }}>
      <input {...attributes} type="file" accept={accept} />
    </Labelled>
  );
}

export function Area(props: FieldProps & { value?: string; rows?: number }) {
  const { label, hint, rows = 4 } = props;
  const { error, id, value = "", attributes } = useField(props, props.value);
  return (
    <Labelled {...{ id, label, hint, error }}>
      {/* HTML parsers drop the first line break in a textarea. */}
      <textarea {...attributes} rows={rows}>{`\n${value}`}</textarea>
    </Labelled>
  );
}

/** A choice of options: values, or pairs of value and text. `any`: the text of the empty option. */
export function Choice(
  props: FieldProps & {
    options: readonly (string | readonly [value: string, text: string])[];
    value?: string;
    any?: string;
  },
) {
  const { label, hint, any, options } = props;
  const { error, id, value = "", attributes } = useField(props, props.value);
  const pairs = options.map((option) => (typeof option === "string" ? [option, option] : option));
  return (
    <Labelled {...{ id, label, hint, error }}>
      <select {...attributes}>
        {any !== undefined && <option value="">{any}</option>}
        {pairs.map(([each, text]) => (
          <option value={each} selected={each === value}>
            {showHidden(text!)}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

export function Box({
  name,
  label,
  value = "yes",
  checked,
}: {
  name: string;
  label: string;
  value?: string;
  checked?: boolean;
}) {
  const { id: form, form: values } = useContext(Current);
  const id = `${form}-${name}-${value}`;
  const isChecked = values ? values.all(name).includes(value) : checked;
  return (
    <div class="box">
      <input type="checkbox" id={id} name={name} value={value} checked={isChecked} />
      <label for={id}>{label}</label>
    </div>
  );
}
