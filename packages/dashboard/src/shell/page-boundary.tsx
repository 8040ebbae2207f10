import { Component } from 'react';
import { Button } from '../components/button.tsx';
import { PlaceHolder } from '../components/states.tsx';
import { visible } from '../components/visible-text.ts';

interface PageBoundaryProps {
  /** Address of the page: another one is tried afresh. */
  readonly address: string;
  readonly children: React.ReactNode;
}

interface PageBoundaryState {
  readonly address: string;
  /** Failure of the page at this address. */
  readonly failed?: { readonly error: unknown } | undefined;
}

/** Keeps the frame when a page fails: its place says what happened, and what to do. */
export class PageBoundary extends Component<PageBoundaryProps, PageBoundaryState> {
  override state: PageBoundaryState = { address: this.props.address };

  static getDerivedStateFromError(error: unknown): Partial<PageBoundaryState> {
    return { failed: { error } };
  }

  static getDerivedStateFromProps(
    { address }: PageBoundaryProps,
    before: PageBoundaryState,
  ): Partial<PageBoundaryState> | null {
    return address === before.address ? null : { address, failed: undefined };
  }

  override render(): React.ReactNode {
    const { failed } = this.state;
    if (failed === undefined) return this.props.children;
    const { error } = failed;
    return (
      <PlaceHolder title="This page failed." role="alert">
        <p>
          {visible(error instanceof Error ? error.message : String(error))} Nothing of what the
          server keeps is touched. Load the page again, or go to another one. If it fails again,
          report the address and these words.
        </p>
        <Button icon="retry" onPress={() => location.reload()}>
          Load again
        </Button>
      </PlaceHolder>
    );
  }
}
