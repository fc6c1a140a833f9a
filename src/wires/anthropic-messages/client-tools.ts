// Tools that the client runs, but whose description and schema only Claude models know: a request names their version
// alone. For other models both are written out. Versions and fields checked 2026-11 (@anthropic-ai/sdk 1.10, tool
// documentation).

import type { ToolSpec } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { numberIn, textIn } from '../shared/json-fields.ts'

/** Undefined: the provider runs it itself, or it is unknown. */
export function clientTool(tool: JsonObject): ToolSpec | undefined {
  const [, kind = '', version = ''] = /^([a-z_]+)_(\d{8})$/.exec(textIn(tool.type)) ?? []
  const name = textIn(tool.name)
  const spec = name === '' ? undefined : specs[kind]?.(version, tool)
  return spec && { name, ...spec }
}

const specs: Readonly<Record<string, (version: string, tool: JsonObject) => Omit<ToolSpec, 'name'>>> = {
  bash: () => ({
    description: 'Runs a command in a bash session that stays open between calls, and returns its output.',
    input: object([], {
      command: text('The command to run; required unless restart is true.'),
      restart: { type: 'boolean', description: 'Starts a new session instead of running a command.' },
    }),
  }),
  text_editor: (version) => {
    // Checked 2026-11: an undo was in the versions up to January 2025, and the text to insert had another name.
    const canUndo = version <= '20250124'
    const inserted = version < '20250728' ? 'new_str' : 'insert_text'
    const commands = ['view', 'create', 'str_replace', 'insert', ...(canUndo ? ['undo_edit'] : [])]
    return {
      description:
        'Views, creates and edits text files. view shows a file with line numbers, or lists a directory. create writes a new file. ' +
        'str_replace replaces old_str, which must occur exactly once, with new_str. insert adds text after a line.',
      input: object(['command', 'path'], {
        command: { type: 'string', enum: commands },
        path: text('The file or directory.'),
        view_range: lines,
        file_text: text('create: the content of the file.'),
        old_str: text('str_replace: the text to replace, with its exact whitespace.'),
        new_str: text(`str_replace: the new text.${inserted === 'new_str' ? ' insert: the text to insert.' : ''}`),
        insert_line,
        ...(inserted === 'insert_text' && { insert_text }),
      }),
    }
  },
  memory: () => ({
    description:
      'Keeps files below /memories between conversations. view lists a directory or shows a file; create, str_replace, insert, ' +
      'delete and rename change them. Look at /memories before you begin a task.',
    input: object(['command'], {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
      path: text('The file or directory, such as /memories/notes.md; for all but rename.'),
      view_range: lines,
      file_text: text('create: the content of the file.'),
      old_str: text('str_replace: the text to replace.'),
      new_str: text('str_replace: the new text.'),
      insert_line,
      insert_text,
      old_path: text('rename: the present path.'),
      new_path: text('rename: the new path.'),
    }),
  }),
  computer: (version, tool) => ({
    description:
      `Controls the mouse and keyboard of a computer with a screen of ${numberIn(tool.display_width_px)} × ${numberIn(tool.display_height_px)} pixels. ` +
      'Coordinates are pixels from the top left. Take a screenshot to see the result of an action.',
    input: object(['action'], {
      action: { type: 'string', enum: actionsOf(version, tool) },
      coordinate: point('The position of a mouse action.'),
      start_coordinate: point('left_click_drag: where it begins.'),
      text: text(
        'type: the text. key and hold_key: a key or combination, such as ctrl+s. Clicks and scroll: keys held.',
      ),
      scroll_direction: { type: 'string', enum: ['up', 'down', 'left', 'right'] },
      scroll_amount: { type: 'integer', description: 'scroll: how many steps.' },
      duration: { type: 'number', description: 'hold_key and wait: seconds.' },
      ...(tool.enable_zoom === true && { region }),
    }),
  }),
}

function actionsOf(version: string, tool: JsonObject): string[] {
  const first = ['key', 'type', 'mouse_move', 'left_click', 'left_click_drag', 'right_click', 'middle_click']
  const later = ['left_mouse_down', 'left_mouse_up', 'triple_click', 'scroll', 'hold_key', 'wait']
  return [
    ...first,
    'double_click',
    'screenshot',
    'cursor_position',
    ...(version >= '20250124' ? later : []),
    ...(tool.enable_zoom === true ? ['zoom'] : []),
  ]
}

function object(required: string[], properties: JsonObject): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

function text(description: string): JsonObject {
  return { type: 'string', description }
}

function point(description: string): JsonObject {
  return { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2, description: `${description} [x, y]` }
}

const lines: JsonObject = {
  type: 'array',
  items: { type: 'integer' },
  description: 'view: the first and the last line; -1 is the end of the file.',
}
const insert_line: JsonObject = { type: 'integer', description: 'insert: the line after which; 0 is the beginning.' }
const insert_text = text('insert: the text to insert.')
const region: JsonObject = {
  type: 'array',
  items: { type: 'integer' },
  minItems: 4,
  maxItems: 4,
  description: 'zoom: the part of the screen. [x1, y1, x2, y2]',
}
