// The flag -o, as kubectl takes it. Here: its forms. Not here: other flags (flags.ts), which have no short form.

/** `-o json`, `-ojson` and `-o=json` become `--output`. */
export const shortOutput = (args: readonly string[]): readonly string[] =>
  args.map((arg) => (arg === "-o" ? "--output" : arg.replace(/^-o=?(?=\w)/, "--output=")));
