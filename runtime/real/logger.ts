// Logger over winston: text for people, JSON for machines. Here: formats, levels. Not here: what is logged.
import winston from "winston";
import type { LogFields, Logger } from "../base/log.ts";

export interface LoggerOptions {
  readonly format?: "text" | "json";
  /** As --v: debug lines from 4 on. */
  readonly verbosity?: number;
  /** Default: stderr. */
  readonly stream?: NodeJS.WritableStream;
}

const DEBUG_FROM = 4;

export function createLogger({ format = "text", verbosity = 0, stream = process.stderr }: LoggerOptions = {}): Logger {
  const time = winston.format.timestamp();
  const logger = winston.createLogger({
    level: verbosity >= DEBUG_FROM ? "debug" : "info",
    format: winston.format.combine(time, winston.format.printf(format === "json" ? jsonLine : textLine)),
    transports: [new winston.transports.Stream({ stream })],
  });
  return wrap(logger, {});
}

function wrap(logger: winston.Logger, own: LogFields): Logger {
  const say = (level: string) => (message: string, fields?: LogFields) => {
    if (logger.isLevelEnabled(level)) logger.log(level, message, { fields: { ...own, ...fields } });
  };
  return {
    debug: say("debug"),
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
    with: (fields) => wrap(logger, { ...own, ...fields }),
  };
}

const textLine = (info: winston.Logform.TransformableInfo): string => {
  const pairs = Object.entries((info.fields ?? {}) as LogFields).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}=${quoted(value)}`],
  );
  return `${String(info.timestamp)} ${info.level.toUpperCase().padEnd(5)} ${String(info.message)}${pairs.join("")}`;
};

const jsonLine = (info: winston.Logform.TransformableInfo): string =>
  JSON.stringify({ ...(info.fields as LogFields), timestamp: info.timestamp, level: info.level, message: info.message });

const quoted = (value: string | number | boolean): string =>
  typeof value === "string" && (value === "" || /[\s"=]/.test(value)) ? JSON.stringify(value) : String(value);
