;;; What a person does in Emacs, in batch: start eglot, hover, go to frames, open a trace.  -*- lexical-binding: t; -*-

;; Reads $FRAMEDEX_SESSION (JSON: plugin, cmd, demo, trace, log, roads, lines, durations); writes what was seen to its `report', also JSON.

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

(add-to-list 'load-path (session 'plugin))
(require 'framedex)
(setq framedex-command (session 'cmd))
;; With a number, eglot waits for the output of any server, also of one that was connected before.
(setq eglot-sync-connect t)

(defvar report nil)

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

;; A trace before any server runs.
(defun line-start () (buffer-substring-no-properties (line-beginning-position)
                                                     (save-excursion (re-search-forward " at \\| in \\|$") (match-beginning 0))))
(defun press (key) (call-interactively (key-binding (kbd key))))

(find-file (session 'trace))
(goto-char (point-min))
(push (cons 'moved (vconcat (mapcar (lambda (key) (press key) (line-start)) '("n" "n" "p")))) report)
(push (cons 'imenu (vconcat (mapcar #'car (cdr (imenu--make-index-alist))))) report)
(go-to-line (session 'lines 'trace))
(press "RET")
(push (cons 'by_return (here)) report)
(let ((hostile (expand-file-name "hostile.fdtrace" (file-name-directory (session 'trace)))))
  (with-temp-file hostile
    (insert "framedex trace, format 1\n\nframes, most recent call last:\n"
            "  0 P f at /ssh:nobody@127.0.0.1:/etc/passwd:3\n"
            "Local Variables:\nfill-column: 33\neval: (error \"run\")\nEnd:\n"))
  (find-file hostile)
  (go-to-line 4)
  (push (cons 'hostile `((mode . ,(symbol-name major-mode)) (fill . ,fill-column)
                         (visited . ,(condition-case problem (progn (press "RET") "visited")
                                       (user-error (cadr problem))))))
        report))

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

(defun highlights ()
  (let (found)
    (dolist (overlay (overlays-in (point-min) (point-max)))
      (when (overlay-get overlay 'framedex)
        (push (vector (line-number-at-pos (overlay-start overlay)) (symbol-name (overlay-get overlay 'face))) found)))
    (vconcat (sort found (lambda (one other) (< (aref one 0) (aref other 0)))))))

(defun rows ()
  (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n" t))

(find-file (session 'demo))
(go-to-line (session 'lines 'main_calls_make_input))
(framedex-list-stacks)
(push (cons 'stacks (vconcat (rows))) report)
(goto-char (point-min))
(press "RET")
(push (cons 'frames (vconcat (rows))) report)
(with-current-buffer (find-buffer-visiting (session 'demo))
  (push (cons 'highlights (highlights)) report))
(set-buffer "*framedex frames*")
(go-to-line 4)
(press "RET")
(push (cons 'from_frames (here)) report)
(framedex-clear-stack)
(with-current-buffer (find-buffer-visiting (session 'demo))
  (push (cons 'cleared (highlights)) report))

(find-file (session 'demo))
(go-to-line (session 'lines 'main_calls_make_input))
(framedex-list-calls)
(push (cons 'calls (vconcat (rows))) report)
(go-to-line 2)
(press "RET")
(push (cons 'from_calls (here)) report)
;; The server writes the trace anew, here with another text.
(let ((written "old\n")
      (asked nil))
  (write-region written nil buffer-file-name)
  (set-file-times buffer-file-name (time-add nil -100))
  (revert-buffer t t)
  (set-buffer "*framedex calls*")
  (cl-letf (((symbol-function 'yes-or-no-p) (lambda (&rest _) (ignore (setq asked t)))))
    (press "RET"))
  (push (cons 'opened_again `((asked . ,(if asked t :json-false))
                              (stale . ,(if (equal (buffer-string) written) t :json-false))))
        report))

;; A trace that was opened from a file, before anything else was asked of the server.
(let ((trace (expand-file-name "fresh.fdtrace" (file-name-directory (session 'demo)))))
  (copy-file (session 'trace) trace)
  (find-file trace)
  (setq framedex--server nil)
  (push (cons 'folds_of_fresh (progn (press "f") (length (overlays-in (point-min) (point-max))))) report)
  (setq framedex--server nil)
  (push (cons 'server_of_elsewhere (with-temp-buffer
                                     (setq default-directory temporary-file-directory)
                                     (if (framedex--running-server) t :json-false)))
        report))

;; Another server in a C++ buffer of the project.
(let ((other (expand-file-name "other.py" (file-name-directory (session 'demo))))
      (file (expand-file-name "other.cc" (file-name-directory (session 'demo)))))
  (with-temp-file other
    (insert "from pygls.lsp.server import LanguageServer\nLanguageServer('other', '1').start_io()\n"))
  (with-temp-file file (insert "int main() {}\n"))
  (find-file file)
  (let ((framedex-command (list (car (session 'cmd)) other)))
    (start-eglot))
  (push (cons 'beside_another
              `((eglot . ,(plist-get (eglot--server-info (eglot-current-server)) :name))
                (asked . ,(plist-get (eglot--server-info (framedex--server)) :name))
                (stacks . ,(vconcat (framedex--ask :framedex/stacks (framedex--here))))))
        report)
  (eglot-shutdown (eglot-current-server)))

;; What lists show.
(push (cons 'durations (vconcat (mapcar #'framedex--duration (session 'durations)))) report)

(find-file (session 'demo))
(go-to-line (session 'lines 'main_calls_make_input))
(defun told-by (action)
  "The last message of ACTION."
  (let (told)
    (cl-letf (((symbol-function 'message)
               (lambda (form &rest arguments) (when form (setq told (apply #'format form arguments))))))
      (funcall action)
      (while (not told) (accept-process-output nil 0.1)))
    told))
(push (cons 'picked (told-by (lambda () (framedex-pick-capture 1)))) report)
(push (cons 'compared (progn (framedex-compare-captures 1 1)
                             (with-current-buffer "*framedex comparison*" (buffer-string))))
      report)
(push (cons 'unpicked (told-by (lambda () (framedex-pick-capture nil)))) report)

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

(find-file (session 'trace))
(press "f")
(push (cons 'folds (vconcat (mapcar (lambda (overlay) (substring-no-properties (overlay-get overlay 'display)))
                                    (seq-filter (lambda (overlay) (overlay-get overlay 'framedex-fold))
                                                (overlays-in (point-min) (point-max))))))
      report)
(go-to-line (session 'lines 'trace))
(press "n")
(push (cons 'behind_fold (line-start)) report)
(press "f")
(push (cons 'unfolded (seq-count (lambda (overlay) (overlay-get overlay 'framedex-fold))
                                 (overlays-in (point-min) (point-max))))
      report)

(find-file (session 'log))
(go-to-line (session 'lines 'log))
(start-eglot)
(push (cons 'from_log (step-in)) report)

(defun told-nowhere (command)
  "What COMMAND says where it leads nowhere."
  (condition-case problem (told-by command) (user-error (cadr problem))))
(find-file (session 'demo))
(go-to-line 2)
(push (cons 'nothing_there (vconcat (mapcar #'told-nowhere '(framedex-step-in framedex-list-stacks)))) report)
(go-to-line (session 'lines 'main_calls_make_input))
(dotimes (_ 5) (framedex-step-in))
(push (cons 'at_the_end (told-nowhere #'framedex-step-in)) report)
(let ((failing (expand-file-name "failing.py" (file-name-directory (session 'demo)))))
  (with-temp-file failing (insert "raise SystemExit('boom')\n"))
  (find-file failing)
  (push (cons 'failed (told-by #'framedex-record)) report))
(find-file (session 'demo))
(go-to-line (session 'lines 'main_calls_make_input))
(write-region "" nil (expand-file-name ".framedex/index.db" (file-name-directory (session 'demo))))
(push (cons 'damaged (vconcat (mapcar #'told-nowhere '(framedex-step-in framedex-list-calls)))) report)

(find-file (session 'demo))
(dolist (key '(demo roads))
  (delete-directory (expand-file-name ".framedex" (file-name-directory (session key))) t))
(push (cons 'without_captures (condition-case problem (call-interactively #'framedex-compare-captures)
                                (user-error (cadr problem))))
      report)

(with-temp-file (session 'report)
  (insert (json-encode report)))
