// Measuring on a machine that others use too. Here: rates over rounds, their spread, how loaded the machine was. Not here: what is measured.
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

export interface Rate {
  /** Median over rounds, per second. */
  readonly perSecond: number;
  /** (best - worst) / median over rounds: the noise of the machine. */
  readonly spread: number;
  /** Per second of the CPU time of the process that is measured: on a loaded machine the truer figure. */
  readonly perCpuSecond: number;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const ownCpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
};

/** CPU time of another process in seconds, from /proc; NaN where that is missing. */
export function cpuSecondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Behind the name in parentheses: user and system time are the 12th and 13th field, in hundredths.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}

/** @param cpuSeconds CPU time of what is measured, this process by default   @param round does its work and says how many operations that were; the first round warms up and does not count */
export async function rateOf(rounds: number, round: (i: number) => Promise<number> | number, cpuSeconds = ownCpuSeconds): Promise<Rate> {
  const rates: number[] = [];
  const cpuRates: number[] = [];
  for (let i = 0; i <= rounds; i++) {
    const cpuBefore = cpuSeconds();
    const startedAt = performance.now();
    const count = await round(i);
    const seconds = (performance.now() - startedAt) / 1000;
    const cpu = cpuSeconds() - cpuBefore;
    if (i === 0) continue;
    rates.push(count / seconds);
    cpuRates.push(count / cpu);
  }
  const middle = median(rates);
  return { perSecond: middle, spread: (Math.max(...rates) - Math.min(...rates)) / middle, perCpuSecond: median(cpuRates) };
}

/** A fixed amount of plain JavaScript: what differs between runs of it is the machine. @returns rounds per second, and their spread */
export const machine = (): Promise<Rate> =>
  rateOf(7, () => {
    let sum = 0;
    for (let i = 0; i < 2_000; i++) {
      const text = JSON.stringify({ i, list: Array.from({ length: 50 }, (_, n) => ({ n, name: `item-${n}` })) });
      sum += (JSON.parse(text) as { list: unknown[] }).list.length;
    }
    return sum / 50;
  });

const rounded = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3));

export const row = (name: string, value: number, unit: string, remark = ""): void =>
  void process.stdout.write(`${name.padEnd(52)} ${rounded(value).padStart(10)} ${unit}${remark === "" ? "" : `  (${remark})`}\n`);

export const rateRow = (name: string, rate: Rate): void =>
  row(name, rate.perSecond, "/s", `spread ${Math.round(rate.spread * 100)}%, ${rounded(rate.perCpuSecond)} per CPU second`);

/** @returns the yardstick: JSON round trips per CPU second, against which costs can be compared between machines */
export async function printMachine(): Promise<number> {
  const noise = await machine();
  const load = loadavg()[0] ?? 0;
  rateRow("machine: JSON round trips of 50 items", noise);
  row("machine: load average over processors", load / cpus().length, "x", `${cpus().length} processors, Node ${process.version}`);
  return noise.perCpuSecond;
}

/** The cost of one operation in JSON round trips: comparable between machines and loads. */
export const costRow = (rate: Rate, yardstick: number): void => row("  cost of one, in round trips", yardstick / rate.perCpuSecond, "x");
