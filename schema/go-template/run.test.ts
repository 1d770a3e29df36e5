import { describe, expect, it } from "@jest/globals";
import { renderTemplate } from "./run.ts";

const DATA = { files: [{ path: "/a", content: "x" }], name: "n", count: 3, off: false, empty: [], map: { b: 2, a: "1" } };
const rows: readonly (readonly [template: string, output: string, why: string])[] = [
  ["{{ if .files }}true{{ end }}", "true", "a list with items is true"],
  ["{{ if .empty }}true{{ else }}no{{ end }}", "no", "an empty one is not"],
  ["{{ if .missing }}true{{ end }}", "", "a missing variable is false"],
  ["{{ if .off }}a{{ else if eq .count 3 }}b{{ else }}c{{ end }}", "b", "else if"],
  ["{{ .missing }}", "<no value>", "as Go prints it"],
  ["a {{- .name -}} b", "anb", "trim marks"],
  ["{{/* nothing */}}x", "x", "comment"],
  ['{{ printf "%s-%03d-%q" .name 7 "q" }}', 'n-007-"q"', "printf"],
  ["{{ range $i, $f := .files }}{{ $i }}={{ $f.path }};{{ end }}", "0=/a;", "range with two variables"],
  ["{{ range $k, $v := .map }}{{ $k }}{{ $v }},{{ end }}", "a1,b2,", "maps in order of keys"],
  ["{{ with .map }}{{ .a }}{{ $.name }}{{ end }}", "1n", "with moves the dot, $ stays"],
  ["{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}", "2", "assignment reaches the outer scope"],
  ['{{ .name | upper | printf "%s!" }}', "N!", "pipes put the value last"],
  ['{{ default "d" .missing }}{{ .name | default "d" }}', "dn", "default"],
  ["{{ and .name .off }}{{ or .off .name }}", "falsen", "and, or give the deciding value"],
  ['{{ define "t" }}<{{ . }}>{{ end }}{{ template "t" .name }}', "<n>", "named templates"],
  ["{{ index .files 0 | toJson }}", '{"content":"x","path":"/a"}', "index, toJson with sorted keys"],
  ['{{ (index .files 0).path | trimPrefix "/" }}', "a", "fields of parentheses"],
  ["{{ .map }} {{ .files }}", "map[a:1 b:2] [map[content:x path:/a]]", "%v"],
  ["{{ range until 5 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ if eq . 3 }}{{ break }}{{ end }}{{ . }}{{ end }}", "02", "continue, break"],
  ["{{ if semver }}{{ end }}", "throws", "what is accepted but not supported says so"],
  ["{{ .missing.a }}", "throws", "below nothing"],
  ['{{ fail "stop" }}', "throws", "fail"],
  ["{{ index .files 4 }}", "throws", "out of range"],
  ["{{ range .files }}", "throws", "no end"],
];

describe("renderTemplate", () => {
  it.each(rows)("%s -> %s (%s)", (template, output) => {
    if (output === "throws") expect(() => renderTemplate(template, DATA)).toThrow();
    else expect(renderTemplate(template, DATA)).toBe(output);
  });
});
