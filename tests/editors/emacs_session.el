;;; What a person does in Emacs, in batch: start eglot, hover, go to frames, open a trace.  -*- lexical-binding: t; -*-

;; Reads $FRAMEDEX_SESSION (JSON: plugin, cmd, demo, trace, roads, lines); writes what was seen to its `report', also JSON.

(require 'json)
(require 'package)
(package-initialize)

(defvar session
  (let ((json-object-type 'alist) (json-array-type 'list) (json-key-type 'symbol))
    (json-read-from-string (getenv "FRAMEDEX_SESSION"))))

(defun session (&rest keys)
  (let ((value session))
    (dolist (key keys value)
      (setq value (alist-get key value)))))

(load (session 'plugin))
(setq framedex-command (session 'cmd))
;; With a number, eglot waits for the output of any server, also of one that was connected before.
(setq eglot-sync-connect t)

(defun go-to-line (line)
  (goto-char (point-min))
  (forward-line (1- line)))

(defun here ()
  `((file . ,(file-name-nondirectory buffer-file-name))
    (line . ,(line-number-at-pos))
    (column . ,(current-column))))

(defun start-eglot ()
  (cl-letf (((symbol-function 'read-shell-command) (lambda (_ initial &rest _) initial)))
    (framedex-eglot)))

(defun hover-text ()
  (let ((answer (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                                 (eglot--TextDocumentPositionParams))))
    (plist-get (plist-get answer :contents) :value)))

(defun step-in ()
  (xref-find-definitions "")
  (here))

(defvar report nil)

(find-file (session 'demo))
(go-to-line (session 'lines 'main_calls_make_input))
(start-eglot)
(push (cons 'hover (hover-text)) report)
(defun references ()
  "The places that a person is listed, or brought to where there is only one."
  (let ((items (xref-backend-references 'eglot "")))
    (vconcat (mapcar (lambda (item)
                       (let ((place (xref-item-location item)))
                         `((file . ,(file-name-nondirectory (xref-location-group place)))
                           (line . ,(xref-location-line place)))))
                     items))))

(push (cons 'references (references)) report)
(push (cons 'definition (step-in)) report)
(push (cons 'next (step-in)) report)

(find-file (session 'demo))
(go-to-line (session 'lines 'main_calls_make_input))
(push (cons 'steps (vconcat (mapcar (lambda (command) (funcall command) (here))
                                    '(framedex-step-in framedex-step-in framedex-step-in framedex-step-out))))
      report)
(find-file (session 'demo))
(go-to-line (session 'lines 'main_calls_make_input))
(cl-letf (((symbol-function 'completing-read) (lambda (_ choices &rest _) (caar choices))))
  (push (cons 'capture (framedex--read-capture "Which: ")) report))
(framedex-open-trace)
(push (cons 'opened_trace (here)) report)

(defun step-into-first ()
  (xref-find-definitions "")
  ;; Several answers are listed; a person presses RET on the first.
  (when (get-buffer "*xref*")
    (with-current-buffer "*xref*"
      (goto-char (point-min))
      (xref-next-line)
      (xref-goto-xref t))
    (when (get-buffer "*xref*")
      (kill-buffer "*xref*"))
    (set-buffer (window-buffer)))
  (here))

(find-file (session 'roads))
(start-eglot)
(push (cons 'walk (vconcat (mapcar (lambda (_) (step-into-first)) '(1 2 3 4)))) report)

(find-file (session 'trace))
(push (cons 'trace_mode (symbol-name major-mode)) report)
(go-to-line (session 'lines 'trace))
(start-eglot)
(push (cons 'from_trace (step-in)) report)

(find-file (session 'log))
(go-to-line (session 'lines 'log))
(start-eglot)
(push (cons 'from_log (step-in)) report)

(with-temp-file (session 'report)
  (insert (json-encode report)))
