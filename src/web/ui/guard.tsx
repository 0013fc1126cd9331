/** An error boundary: if a part of a page fails to render, the rest of the page stays. */
import { Component, type ReactNode } from "react";
import { liveState } from "../live/stream.ts";
import { retryParts } from "./lazy.tsx";
import { ProblemNote } from "./problem-note.tsx";

interface Props {
  children: ReactNode;
  /** The value that is rendered. If it changes, rendering is tried again. */
  when?: unknown;
  /** Renders a replacement for what failed. */
  fallback?(error: unknown, retry: () => void): ReactNode;
}

/** Events after which rendering is tried again: another address, or a restored connection. */
const CHANGES = ["popstate", "pushState", "replaceState", "online"];

export class Guard extends Component<Props, { error: unknown }> {
  override state = { error: undefined as unknown };
  private unsubscribe = () => {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidMount() {
    for (const change of CHANGES) addEventListener(change, this.retry);
    this.unsubscribe = liveState.subscribe(() => liveState.get() === "open" && this.retry());
  }

  override componentDidUpdate(before: Props) {
    if (before.when !== this.props.when) this.retry();
  }

  override componentWillUnmount() {
    for (const change of CHANGES) removeEventListener(change, this.retry);
    this.unsubscribe();
  }

  retry = () => {
    if (this.state.error === undefined) return;
    retryParts();
    this.setState({ error: undefined });
  };

  override render() {
    const { children, fallback } = this.props;
    const { error } = this.state;
    if (error === undefined) return children;
    return fallback ? fallback(error, this.retry) : <ProblemNote error={error} retry={this.retry} />;
  }
}
