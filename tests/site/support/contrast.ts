/** Measures in a browser how well text stands out from what is behind it. */
import type { Page } from 'playwright-core';

export interface TextContrast {
  readonly text: string;
  readonly color: string;
  readonly background: string;
  /** From 1, invisible, to 21, black on white. */
  readonly ratio: number;
}

/** The contrast of every visible text below the elements that the selector finds, by the formula of WCAG 2. */
export function measureContrast(page: Page, selector: string): Promise<TextContrast[]> {
  return page.evaluate((wanted) => {
    type Colour = [red: number, green: number, blue: number, alpha: number];
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    if (canvas === null) throw new Error('no canvas');

    function parse(css: string): Colour {
      canvas?.clearRect(0, 0, 1, 1);
      if (canvas !== null) canvas.fillStyle = css;
      canvas?.fillRect(0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0, alpha = 0] = canvas?.getImageData(0, 0, 1, 1).data ?? [];
      return [red, green, blue, alpha / 255];
    }
    function over(front: Colour, back: Colour): Colour {
      const mix = (i: 0 | 1 | 2) => front[i] * front[3] + back[i] * (1 - front[3]);
      return [mix(0), mix(1), mix(2), 1];
    }
    function behind(element: Element | null): Colour {
      if (element === null) return [255, 255, 255, 1];
      const own = parse(getComputedStyle(element).backgroundColor);
      return own[3] === 1 ? own : over(own, behind(element.parentElement));
    }
    function luminance(colour: Colour): number {
      const linear = (i: 0 | 1 | 2) => {
        const share = colour[i] / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      };
      return 0.2126 * linear(0) + 0.7152 * linear(1) + 0.0722 * linear(2);
    }

    const measured: { text: string; color: string; background: string; ratio: number }[] = [];
    for (const root of document.querySelectorAll(wanted)) {
      const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
        const element = node.parentElement;
        const text = node.textContent?.trim() ?? '';
        if (element === null || text === '' || !element.checkVisibility({ opacityProperty: true })) continue;
        const back = behind(element);
        const front = over(parse(getComputedStyle(element).color), back);
        const [low = 0, high = 0] = [luminance(front), luminance(back)].sort((one, other) => one - other);
        const name = (colour: Colour) => colour.slice(0, 3).map(Math.round).join(' ');
        measured.push({
          text,
          color: name(front),
          background: name(back),
          ratio: (high + 0.05) / (low + 0.05),
        });
      }
    }
    return measured;
  }, selector);
}
