// A person at the pages of the compiled program: keeps cookies, sends forms, and remembers every page it was shown.

export interface Shown {
  path: string;
  text: string;
  headers: string;
}

export interface Browser {
  /** What it was shown since `forget`. */
  shown: Shown[];
  get(path: string): Promise<Shown & { status: number }>;
  /** As a form of the same site. */
  post(path: string, fields: Record<string, string>): Promise<Shown & { status: number }>;
  cookies(): string[];
}

export function browserOf(url: string, prefix = ""): Browser {
  const jar = new Map<string, string>();
  const shown: Shown[] = [];
  const ask = async (path: string, body?: URLSearchParams) => {
    const response = await fetch(url + prefix + path, {
      redirect: "manual",
      headers: {
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
        origin: url,
        "sec-fetch-site": "same-origin",
      },
      ...(body && { method: "POST", body }),
    });
    const set = response.headers.getSetCookie();
    for (const each of set) {
      const [name, value] = each.split(";")[0]!.split("=") as [string, string];
      if (each.includes("Max-Age=0")) jar.delete(name);
      else jar.set(name, value);
    }
    // A session's own cookie is where its secret belongs.
    const headers = [...response.headers].filter(([name]) => name !== "set-cookie");
    const page = { path, text: await response.text(), headers: JSON.stringify(headers) };
    shown.push(page);
    return { ...page, status: response.status };
  };
  return {
    shown,
    get: (path) => ask(path),
    post: (path, fields) => ask(path, new URLSearchParams(fields)),
    cookies: () => [...jar.values()],
  };
}
