// The seccomp filter that systemd builds from a unit, as the BPF program it loads into the kernel. Groups of system
// calls are expanded by `systemd-analyze syscall-filter`, numbers come from the C headers; x86-64 only.

/** A call that is refused for its arguments, where every condition holds. */
interface Rule {
  call: string;
  conditions: Condition[];
  errno: number;
}

interface Condition {
  argument: number;
  /** Holds when the argument shares a bit with this. */
  bits?: number;
  /** Or holds when the argument is none of these. */
  noneOf?: readonly number[];
}

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const ADDRESS_FAMILIES: Record<string, number> = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 }; // prettier-ignore
const CREATE = 0o100;
const SET_ID_BITS = 0o6000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NAMESPACE_BITS = 0x7e020000;

/** What else systemd puts into the filter, by the setting that asks for it (its src/shared/seccomp-util.c). */
const RULES: Record<string, (value: string) => Rule[]> = {
  RestrictAddressFamilies: (families) => [
    refuse("socket", EAFNOSUPPORT, {
      argument: 0,
      noneOf: families.split(" ").map((family) => ADDRESS_FAMILIES[family]!),
    }),
  ],
  // The arguments of clone3 and openat2 lie in memory, where no filter reads: both are "not implemented".
  RestrictNamespaces: () => [
    refuse("clone3", ENOSYS),
    refuse("setns", EPERM),
    refuse("unshare", EPERM, { argument: 0, bits: NAMESPACE_BITS }),
    refuse("clone", EPERM, { argument: 0, bits: NAMESPACE_BITS }),
  ],
  RestrictSUIDSGID: () => [
    refuse("openat2", ENOSYS),
    ...Object.entries({ chmod: 1, fchmod: 1, fchmodat: 2, creat: 1, mknod: 1, mknodat: 2, mkdir: 1, mkdirat: 2 }).map(
      ([call, argument]) => refuse(call, EPERM, { argument, bits: SET_ID_BITS }),
    ),
    refuse("open", EPERM, { argument: 1, bits: CREATE }, { argument: 2, bits: SET_ID_BITS }),
    refuse("openat", EPERM, { argument: 2, bits: CREATE }, { argument: 3, bits: SET_ID_BITS }),
  ], // prettier-ignore
  LockPersonality: () => [refuse("personality", EPERM, { argument: 0, noneOf: [0] })],
};
/** Settings that keep calls out which the unit's own SystemCallFilter leaves out as well: held by seccompFilter. */
const GROUPS_DENIED: Record<string, readonly string[]> = {
  ProtectClock: ["@clock"],
  ProtectHostname: ["sethostname", "setdomainname"],
  ProtectKernelLogs: ["syslog"],
  ProtectKernelModules: ["@module"],
  PrivateDevices: ["@raw-io"],
  RestrictRealtime: ["sched_setscheduler", "sched_setattr"],
};

/** Every setting of a unit that this filter takes in. */
export const SETTINGS_FILTERED = [
  "SystemCallFilter",
  "SystemCallErrorNumber",
  "SystemCallArchitectures",
  ...Object.keys(RULES),
  ...Object.keys(GROUPS_DENIED),
];

/** How a call is met that the filter does not list. */
export type Refused = "EPERM" | "killed";

/** `settings` are the unit's, of its [Service], in their order. */
export function seccompFilter(
  settings: readonly (readonly [name: string, value: string])[],
  refused: Refused,
): Uint8Array {
  if (!settings.some(([name, value]) => name === "SystemCallErrorNumber" && value === "EPERM")) {
    throw new Error("the unit refuses otherwise than with EPERM");
  }
  const numbers = callNumbers();
  const groups = callGroups();
  const allowed = allowedCalls(settings, groups);
  for (const [setting, names] of Object.entries(GROUPS_DENIED)) {
    if (!settings.some(([name]) => name === setting)) continue;
    for (const call of expand(names, groups)) allowed.delete(call);
  }
  const rules = settings.flatMap(([name, value]) => RULES[name]?.(value) ?? []);
  const listed = [...allowed].flatMap((call) => numbers.get(call) ?? []);
  return assemble(
    rules.filter(({ call }) => numbers.has(call)),
    listed,
    numbers,
    refused === "killed" ? RETURN_KILL : RETURN_ERRNO | EPERM,
  );
}

function refuse(call: string, errno: number, ...conditions: Condition[]): Rule {
  return { call, errno, conditions };
}

/** The lists of SystemCallFilter= one after the other: the first says what the filter is, further ones add and remove. */
function allowedCalls(
  settings: readonly (readonly [string, string])[],
  groups: ReadonlyMap<string, readonly string[]>,
): Set<string> {
  const lists = settings.filter(([name]) => name === "SystemCallFilter").map(([, value]) => value);
  if (lists.length === 0 || lists[0]!.startsWith("~")) throw new Error("no list of allowed calls");
  // What no program runs without is always allowed.
  const allowed = expand(["@default"], groups);
  for (const list of lists) {
    for (const call of expand(list.replace("~", "").split(" "), groups)) {
      if (list.startsWith("~")) allowed.delete(call);
      else allowed.add(call);
    }
  }
  return allowed;
}

function expand(
  names: readonly string[],
  groups: ReadonlyMap<string, readonly string[]>,
): Set<string> {
  return new Set(
    names.flatMap((name) => {
      if (!name.startsWith("@")) return [name];
      const members = groups.get(name);
      if (!members) throw new Error(`systemd knows no group ${name}`);
      return [...expand(members, groups)];
    }),
  );
}

function callGroups(): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  let group: string[] = [];
  for (const line of printed("systemd-analyze", "syscall-filter").split("\n")) {
    if (line.startsWith("@")) groups.set(line.trim(), (group = []));
    else if (/^\s+[@\w]/.test(line)) group.push(line.trim());
  }
  return groups;
}

function callNumbers(): Map<string, number> {
  const macros = printed("gcc", "-dM", "-E", "-include", "sys/syscall.h", "-x", "c", "/dev/null");
  return new Map(
    [...macros.matchAll(/^#define __NR_(\w+) (\d+)$/gm)].map(([, name, number]) => [
      name!,
      Number(number),
    ]),
  );
}

function printed(...argv: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(argv);
  if (exitCode !== 0) throw new Error(`${argv[0]}: ${String(stderr)}`);
  return String(stdout);
}

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_BITS = 0x45;
const RETURN = 0x06;
const RETURN_ALLOW = 0x7fff0000;
const RETURN_ERRNO = 0x00050000;
const RETURN_KILL = 0x80000000;
const X86_64 = 0xc000003e;
/** Offsets in struct seccomp_data. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argumentOffset = (index: number) => 16 + 8 * index;

type Instruction = readonly [code: number, operand: number, ifTrue: number, ifFalse: number];
const load = (offset: number): Instruction => [LOAD, offset, 0, 0];
const end = (action: number): Instruction => [RETURN, action, 0, 0];

function assemble(
  rules: readonly Rule[],
  allowed: readonly number[],
  numbers: ReadonlyMap<string, number>,
  otherwise: number,
): Uint8Array {
  const program: Instruction[] = [
    load(ARCHITECTURE),
    [JUMP_EQUAL, X86_64, 1, 0],
    end(RETURN_KILL),
    ...rules.flatMap((rule) => ruleInstructions(rule, numbers.get(rule.call)!)),
    load(NUMBER),
    ...allowed.flatMap((number): Instruction[] => [[JUMP_EQUAL, number, 0, 1], end(RETURN_ALLOW)]),
    end(otherwise),
  ];
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [index, [code, operand, ifTrue, ifFalse]] of program.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, ifTrue);
    bytes.setUint8(index * 8 + 3, ifFalse);
    bytes.setUint32(index * 8 + 4, operand, true);
  }
  return new Uint8Array(bytes.buffer);
}

/** Falls through to what comes next unless the call is this one and every condition holds. */
function ruleInstructions({ conditions, errno }: Rule, number: number): Instruction[] {
  let after: Instruction[] = [end(RETURN_ERRNO | errno)];
  for (const { argument, bits, noneOf = [] } of conditions.toReversed()) {
    const tests: Instruction[] = [];
    if (bits !== undefined) tests.push([JUMP_BITS, bits, 0, after.length]);
    for (const [index, value] of noneOf.entries()) {
      tests.push([JUMP_EQUAL, value, noneOf.length - 1 - index + after.length, 0]);
    }
    after = [load(argumentOffset(argument)), ...tests, ...after];
  }
  return [load(NUMBER), [JUMP_EQUAL, number, 0, after.length], ...after];
}
