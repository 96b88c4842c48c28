/** A part of the page that can be folded away; where there is little room it is, until it is asked for. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { isWide } from '../state/preferences.ts';

interface PanelProps {
  readonly title: string;
  /** Said beside the title, so that a folded panel tells the most important too. */
  readonly note?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Panel({ title, note, class: name = '', children }: PanelProps) {
  const [choice, choose] = useState<boolean | null>(null);
  const isOpen = choice ?? isWide.value;
  return (
    <details
      class={`panel ${name}`}
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== isOpen) choose(currentTarget.open);
      }}
    >
      <summary>
        <h2>{title}</h2>
        {note !== undefined && <span class="note">{note}</span>}
      </summary>
      {isOpen && <div class="content">{children}</div>}
    </details>
  );
}
