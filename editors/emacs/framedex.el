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
;; Eglot runs one server per buffer.  In Python, C, C++ and CUDA buffers, and in those with a log or a crash text,
;; M-x framedex-eglot starts framedex as that server; to have it beside pyright or clangd, give eglot an LSP multiplexer
;; that runs both.  M-. then goes one frame inward, and M-, back; where there were other callees, M-x framedex-list-callees
;; lists them.  The commands below ask a framedex that runs anywhere.
;;
;; M-x framedex-step-in, -step-out, -next-stack and -previous-stack go along one recorded stack, whose lines are
;; highlighted.  Recorded lines have a dot in the fringe (`framedex-recorded-lines'); "way 1 of 17" in the mode line leads
;; to the other ways (M-x framedex-ways).  M-x framedex-list-stacks and -list-calls list what went through a line.
;; M-x framedex- TAB lists all.

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
                                 "Recorded, exit status %d: M-x eglot-events-buffer has what the script wrote")
                               status))))

(defun framedex--read-capture (prompt &rest more)
  "The id of a capture that is chosen with PROMPT.
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
  "Have answers be about CAPTURE alone, an id; nil for none in particular."
  (interactive (list (framedex--read-capture "Answers are about: " '("as the project has it"))))
  (let ((picked (framedex--ask :framedex/selectCapture (list :textDocument (framedex--document) :capture capture))))
    (message "Answers are %s" (if picked (format "of %s alone" (plist-get picked :name)) "as the project has it"))))

;;;###autoload
(defun framedex-compare-captures (before after)
  "Compare what two captures, BEFORE and AFTER, came to at this line."
  (interactive (list (framedex--read-capture "Before: ") (framedex--read-capture "After: ")))
  (let ((compared (framedex--find :framedex/compareCaptures
                                  (append (framedex--here) (list :before before :after after)))))
    (display-message-or-buffer (plist-get compared :text) "*framedex comparison*")))

(provide 'framedex)
;;; framedex.el ends here
