// The part of React 19's types with which an element declares itself: JSX is a namespace of the module, and no longer
// a global one.
export = React;

declare namespace React {
  type Key = string | number | bigint;
  type ReactNode = JSX.Element | string | number | boolean | null | undefined | Iterable<ReactNode>;
  interface RefObject<T> {
    current: T;
  }
  interface ClassAttributes<T> {
    key?: Key | null;
    ref?: RefObject<T | null> | ((instance: T | null) => void);
  }
  interface HTMLAttributes<T> {
    children?: ReactNode;
    className?: string;
    slot?: string;
    onClick?: (event: { currentTarget: T }) => void;
  }
  type DetailedHTMLProps<E extends HTMLAttributes<T>, T> = ClassAttributes<T> & E;
  function useRef<T>(value: T | null): RefObject<T | null>;

  namespace JSX {
    interface Element {
      type: unknown;
    }
    interface ElementChildrenAttribute {
      children: {};
    }
    interface IntrinsicAttributes {
      key?: Key | null;
    }
    interface IntrinsicElements {
      main: DetailedHTMLProps<HTMLAttributes<HTMLElement>, HTMLElement>;
      p: DetailedHTMLProps<HTMLAttributes<HTMLParagraphElement>, HTMLParagraphElement>;
    }
  }
}
