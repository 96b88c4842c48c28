/** The name of a lock, a label or an owner: text, whatever it consists of. */
import { visibleParts, visibleText } from '../view/visible-text.ts';

export function Name({ text }: { text: string }) {
  return (
    <bdi class="name" title={visibleText(text)}>
      {visibleParts(text).map((part) => (part.isCode ? <span class="code">{part.text}</span> : part.text))}
    </bdi>
  );
}
