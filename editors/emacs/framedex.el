;;; framedex.el --- Recorded JAX and XLA call stacks through eglot  -*- lexical-binding: t; -*-

;; Copyright the framedex authors
;; SPDX-License-Identifier: Apache-2.0

;; Author: the framedex authors
;; Maintainer: the framedex authors
;; Version: 0.2.0
;; Package-Requires: ((emacs "28.1") (eglot "1.8"))
;; Keywords: tools, languages, c, processes
;; URL: https://pypi.org/project/framedex/

;;; Commentary:

;; framedex records every mixed Python and C++ stack with which a JAX program enters the TPU runtime.  Its server is a
;; Python package: pip install framedex.
;;
;; Trace documents (*.fdtrace) open in `framedex-trace-mode': RET, mouse-2 and M-. on a frame go to its source, n and p
;; to the next and previous frame, f folds frames of glue and of the interpreter.
;;
;; Eglot runs one server per buffer.  In Python, C, C++ and CUDA buffers, and in buffers with a log or a crash text,
;; M-x framedex-eglot starts framedex as that server.  To run it next to pyright or clangd, configure eglot with an LSP
;; multiplexer that runs both.  M-. then goes one frame inward, and M-, back.  M-x framedex-list-callees lists all
;; callees.  The commands below use any running framedex server.
;;
;; M-x framedex-step-in, -step-out, -next-stack and -previous-stack go along one recorded stack, whose lines are
;; highlighted.  Recorded lines have a dot in the fringe (`framedex-recorded-lines').  Click "way 1 of 17" in the mode
;; line to choose another way (M-x framedex-ways).  M-x framedex-list-stacks and -list-calls list the stacks and calls
;; through a line.  M-x framedex- TAB lists all commands.

;;; Code:

(require 'framedex-server)
(require 'framedex-trace)
(require 'framedex-steps)
(require 'framedex-lists)
(require 'framedex-recorded)
(require 'framedex-ways)

;;;###autoload
(defun framedex-open-trace ()
  "Open the trace of the longest stack through this line."
  (interactive)
  (framedex--open-trace (framedex--here)))

;;;###autoload
(defun framedex-index ()
  "Index the captures and sources of this file's project."
  (interactive)
  (framedex--execute "framedex.index" (framedex--uri) (lambda (_) "Indexed")))

;;;###autoload
(defun framedex-record ()
  "Run this script under the recorder."
  (interactive)
  (framedex--execute "framedex.record" (framedex--uri)
                     (lambda (status)
                       (format (if (zerop status) "Recorded, exit status %d"
                                 "Recorded, exit status %d: M-x eglot-events-buffer shows the script's output")
                               status))))

(defun framedex--read-capture (prompt &rest more)
  "Read a capture with PROMPT; return its id.
MORE are other choices, as conses of a text and its value.  RET alone takes the
first of these, without any the latest capture."
  (let* ((listed (framedex--ask :framedex/captures (list :textDocument (framedex--document))))
         (captures (mapcar (lambda (capture)
                             (let ((started (format-time-string "%F %T" (plist-get capture :started)))
                                   (id (plist-get capture :id)))
                               (cons (format "%s %s (capture %d)" started (plist-get capture :name) id) id)))
                           (plist-get listed :captures)))
         (choices (append captures more)))
    (unless captures (user-error "%s" (framedex--why :framedex/captures (list :textDocument (framedex--document)))))
    (cdr (assoc (completing-read prompt choices nil t nil nil (caar (or more captures))) choices))))

;;;###autoload
(defun framedex-pick-capture (capture)
  "Restrict answers to CAPTURE, an id; nil removes the restriction."
  (interactive (list (framedex--read-capture "Restrict answers to: " '("captures that the project's settings select"))))
  (let ((picked (framedex--ask :framedex/selectCapture (list :textDocument (framedex--document) :capture capture))))
    (message "Answers now cover %s"
             (if picked (format "only %s" (plist-get picked :name)) "the captures in the project's settings"))))

;;;###autoload
(defun framedex-compare-captures (before after)
  "Compare the calls of two captures, BEFORE and AFTER, at this line."
  (interactive (list (framedex--read-capture "Before: ") (framedex--read-capture "After: ")))
  (let ((compared (framedex--find :framedex/compareCaptures
                                  (append (framedex--here) (list :before before :after after)))))
    (display-message-or-buffer (plist-get compared :text) "*framedex comparison*")))

(provide 'framedex)
;;; framedex.el ends here
