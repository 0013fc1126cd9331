/**
 * A text editor (CodeMirror) for YAML and Markdown that shows problems at their lines. Its script is loaded on demand.
 */
import { autocompletion, type CompletionSource } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

export interface EditorProblem {
  line: number;
  column: number;
  message: string;
}

interface EditorProps {
  label: string;
  value: string;
  onChange(value: string): void;
  language?: "yaml" | "text";
  problems?: EditorProblem[];
  complete?: CompletionSource;
  readOnly?: boolean;
  /** Whether the editor takes the focus at once, in a dialog. */
  first?: boolean;
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--run)" },
  { tag: [tags.string, tags.content], color: "var(--ink)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--accent)" },
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: tags.punctuation, color: "var(--dim)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--panel)", color: "var(--ink)" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent) !important",
  },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
});

function diagnosticsOf(view: EditorView, problems: EditorProblem[]): Diagnostic[] {
  const { doc } = view.state;
  return problems.map(({ line, column, message }) => {
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
    return { from, to: Math.max(at.to, from), severity: "error", message };
  });
}

export default function Editor({
  label,
  value,
  onChange,
  language = "yaml",
  problems = [],
  complete,
  readOnly = false,
  first = false,
}: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; later changes are applied below.
  useEffect(() => {
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          highlightSpecialChars(),
          highlightSelectionMatches(),
          syntaxHighlighting(colours),
          look,
          lintGutter(),
          EditorView.lineWrapping,
          ...(language === "yaml" ? [yaml()] : []),
          ...(complete ? [autocompletion({ override: [complete] })] : []),
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({ "aria-label": label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    // A scrolling element must be focusable, so that keys can scroll it.
    editor.scrollDOM.tabIndex = 0;
    if (first) {
      // In a dialog Tab moves on to the buttons. Elsewhere Escape frees the Tab key, but here it closes the dialog.
      editor.setTabFocusMode(true);
      editor.focus();
    }
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== value)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, diagnosticsOf(editor, problems)));
  }, [problems]);
  return <div ref={place} className="h-full min-h-72 overflow-hidden rounded-lg border border-line-strong" />;
}
