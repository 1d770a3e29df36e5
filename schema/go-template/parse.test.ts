// Go templates: what parses, and what does not. Source: text/template.
import { describe, expect, it } from "@jest/globals";
import { templateFault } from "./parse.ts";

const GOOD = [
  "",
  "no action",
  "{{ . }}",
  "{{.a.b}}",
  "{{- .a -}}",
  "{{/* words */}}",
  "{{- /* words */ -}}",
  '{{ printf "%s-%d" .a 3 }}',
  "{{ `raw }}` }}",
  "{{ 'x' }}",
  "{{ 0x1F }}{{ -1.5e3 }}{{ 1_000 }}{{ +.5 }}",
  "{{ true }}{{ nil }}",
  '{{ .a | default "x" | quote }}',
  "{{ (index .a 0).b }}",
  "{{ if .a }}x{{ else if .b }}y{{ else }}z{{ end }}",
  "{{ with .a }}{{ . }}{{ else with .b }}{{ . }}{{ end }}",
  "{{ with $x := .a }}{{ $x.b }}{{ end }}",
  "{{ range .a }}{{ if . }}{{ break }}{{ else }}{{ continue }}{{ end }}{{ else }}none{{ end }}",
  "{{ range $i, $x := .a }}{{ $i }}{{ $x }}{{ end }}",
  "{{ $x := 1 }}{{ $x = 2 }}{{ $x }}",
  '{{ define "a" }}{{ . }}{{ end }}{{ template "a" .b }}{{ template "a" }}',
  '{{ block "a" .b }}x{{ end }}',
  "{{ eq .a\n .b }}",
  "{{ $.a }}",
  '{{ "a\\u00e9\\n" }}',
  "text with } and { and }}",
] as const;

const BAD = [
  ["not closed", "{{ .a"],
  ["empty", "{{ }}"],
  ["comment not closed", "{{/* words"],
  ["comment beside something", "{{/* words */ .a }}"],
  ["unknown function", "{{ nothing .a }}"],
  ["a function that depends on the time", "{{ now }}"],
  ["no end", "{{ if .a }}x"],
  ["end without", "{{ end }}"],
  ["else without", "{{ else }}"],
  ["two else", "{{ if .a }}{{ else }}{{ else }}{{ end }}"],
  ["else if of a range", "{{ range .a }}{{ else if .b }}{{ end }}"],
  ["break outside", "{{ break }}"],
  ["if without a value", "{{ if }}{{ end }}"],
  ["text not closed", '{{ "a }}'],
  ["text over lines", '{{ "a\nb" }}'],
  ["bad escape", '{{ "\\q" }}'],
  ["parenthesis not closed", "{{ (.a }}"],
  ["parenthesis not opened", "{{ .a) }}"],
  ["empty parenthesis", "{{ () }}"],
  ["number", "{{ 3x }}"],
  ["number's digits", "{{ 0b12 }}"],
  ["unknown variable", "{{ $x }}"],
  ["variable out of scope", "{{ with $x := .a }}{{ end }}{{ $x }}"],
  ["variable of the outside in a define", '{{ $x := 1 }}{{ define "a" }}{{ $x }}{{ end }}'],
  ["define inside", '{{ if .a }}{{ define "a" }}{{ end }}{{ end }}'],
  ["value after a pipe", "{{ .a | 3 }}"],
  ["field of a text", '{{ "a".b }}'],
  ["odd character", "{{ .a ! }}"],
  ["character after a field", "{{ .a! }}"],
  ["two declarations", "{{ $a, $b := .c }}"],
  ["template without a name", "{{ template .a }}"],
  ["end with something", "{{ if .a }}{{ end .b }}"],
] as const;

describe("Go templates", () => {
  it.each(GOOD)("parses %j", (template) => {
    expect(templateFault(template)).toBeUndefined();
  });
  it.each(BAD)("refuses %s", (_what, template) => {
    expect(templateFault(template)).toEqual(expect.stringMatching(/\w{3}/));
  });
});
