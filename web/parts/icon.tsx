// The icons of the page, drawn with one pen.

const drawings = {
  plus: 'M8 3v10M3 8h10',
  send: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
  stop: 'M4.5 4.5h7v7h-7z',
  clip: 'M12.5 7.5 8 12a3 3 0 0 1-4.2-4.2l4.9-4.9a2 2 0 0 1 2.8 2.8L6.6 10.6a1 1 0 0 1-1.4-1.4L9.5 5',
  pencil: 'M10.5 3 13 5.5 6 12.5l-3 .5.5-3zM9 4.5 11.5 7',
  retry: 'M12.8 6.5A5 5 0 1 0 13 9M13 3v3.5H9.5',
  fork: 'M4.5 4v8M4.5 8.5c5 0 7-1 7-3.5M4.5 4a1.3 1.3 0 1 0 0-.01M11.5 4a1.3 1.3 0 1 0 0-.01M4.5 13a1.3 1.3 0 1 0 0-.01',
  copy: 'M6 6h7v7H6zM10 6V3H3v7h3',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  import: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.5 10.5v2.5h11v-2.5',
  pin: 'M5.5 2.5h5l-.7 4.2 2.2 2.3H4l2.2-2.3zM8 9v4.5',
  star: 'M8 2l1.8 3.8 4.2.5-3.1 2.9.8 4.1L8 11.3l-3.7 2 .8-4.1L2 6.3l4.2-.5z',
  columns: 'M2.5 3h4.5v10H2.5zM9 3h4.5v10H9z',
  left: 'M10 3 5 8l5 5',
  right: 'M6 3l5 5-5 5',
  down: 'M3.5 6 8 10.5 12.5 6',
  close: 'M4 4l8 8M12 4l-8 8',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  panel: 'M2.5 3h11v10h-11zM10 3v10',
  sun: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  gear: 'M3 4.5h6M12 4.5h1M3 11.5h1M7 11.5h6M10.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM5.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3 3',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  wrench:
    'M13 4.5 10.8 6.7 9.3 5.2 11.5 3a3.5 3.5 0 0 0-4.6 4.5L2.8 11.6a1.1 1.1 0 0 0 1.6 1.6l4.1-4.1A3.5 3.5 0 0 0 13 4.5z',
  wide: 'M6 3H3v10h3M10 3h3v10h-3',
}

export type IconName = keyof typeof drawings

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={drawings[name]} />
    </svg>
  )
}
