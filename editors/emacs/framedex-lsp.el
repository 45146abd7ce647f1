;;; framedex-lsp.el --- Framedex with other servers, in lsp-mode  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; lsp-mode runs several servers in one buffer, so framedex runs next to pyright or clangd.  In an init file:
;;
;;     (with-eval-after-load 'lsp-mode (require 'framedex-lsp))
;;
;; M-. goes one frame inward and M-, back.  If another server has an answer too, both answers are listed.  If there were
;; several ways, M-x lsp-execute-code-action lists them.

;;; Code:

(require 'framedex-server)
(require 'framedex-ways)
(require 'lsp-mode nil t)

(declare-function lsp-register-client "ext:lsp-mode")
(declare-function lsp-stdio-connection "ext:lsp-mode")
(declare-function make-lsp-client "ext:lsp-mode")

(defun framedex-lsp--led (_workspace note)
  "Show the note about the latest step, which is in NOTE."
  (framedex-ways--led (if (hash-table-p note) (gethash "text" note) (plist-get note :text))))

(defun framedex-lsp--library (_workspace)
  "The folder of this buffer's file, if it is in a Python environment.
Frames lead there: lsp-mode is not to ask what project the file is of."
  (when (string-match-p "/lib\\(64\\)?/python[0-9.]*/" (buffer-file-name))
    (list (file-name-directory (buffer-file-name)))))

(when (featurep 'lsp-mode)
  (lsp-register-client
   (make-lsp-client
    :server-id 'framedex
    :new-connection (lsp-stdio-connection #'framedex--local-contact)
    :major-modes '(python-mode python-ts-mode c-mode c-ts-mode c++-mode c++-ts-mode framedex-trace-mode)
    :add-on? t
    :multi-root t
    :library-folders-fn #'framedex-lsp--library
    :custom-capabilities '((experimental . ((framedex . ((led . t))))))
    :notification-handlers (let ((handlers (make-hash-table :test #'equal)))
                             (puthash "framedex/led" #'framedex-lsp--led handlers)
                             handlers))))

(provide 'framedex-lsp)
;;; framedex-lsp.el ends here
