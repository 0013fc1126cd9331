import { Component, type ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { ProblemNote } from "../ui/note.tsx";

/** Catches what a page throws while it is drawn, so that the navigation stays. One cause is a script of an older version. */
export class Broken extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: undefined as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidMount() {
    addEventListener("popstate", this.reset);
    addEventListener("pushState", this.reset);
  }

  override componentWillUnmount() {
    removeEventListener("popstate", this.reset);
    removeEventListener("pushState", this.reset);
  }

  reset = () => this.state.error && this.setState({ error: undefined });

  override render() {
    if (!this.state.error) return this.props.children;
    return (
      <div className="mx-auto max-w-xl">
        <ProblemNote error={this.state.error} />
        <p className="mb-3 text-dim">This page could not be drawn. If the server was updated meanwhile, reload it.</p>
        <Button onClick={() => location.reload()}>Reload</Button>
      </div>
    );
  }
}
