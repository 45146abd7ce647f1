;;; framedex-recorded.el --- Fringe marks on recorded lines  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A dot in the left fringe of each recorded line of the program's own files, in buffers that eglot manages with
;; framedex as server.

;;; Code:

(require 'framedex-server)

(defcustom framedex-recorded-lines t
  "Whether recorded lines of the program's own files have a dot in the fringe."
  :type 'boolean
  :group 'framedex)

(defface framedex-recorded '((t :inherit shadow))
  "The mark of a recorded line."
  :group 'framedex)

(define-fringe-bitmap 'framedex-recorded [#b00111100 #b01111110 #b01111110 #b00111100] nil nil 'center)

(defun framedex-recorded--draw (lines)
  "Replace the marks of this buffer with marks on LINES, which count from 0."
  (remove-overlays (point-min) (point-max) 'framedex-recorded t)
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-min))
      (let ((at 0))
        (dolist (line (sort lines #'<))
          (when (zerop (forward-line (- line at)))
            (setq at line)
            (framedex-recorded--mark)))))))

(defun framedex-recorded--mark ()
  "Mark the line of point."
  (let ((overlay (make-overlay (point) (point) nil t)))
    (overlay-put overlay 'framedex-recorded t)
    (overlay-put overlay 'before-string
                 (propertize " " 'display '(left-fringe framedex-recorded framedex-recorded)))))

(defun framedex-recorded--refresh ()
  "Request the recorded lines of this buffer, and mark them."
  (let ((server (eglot-current-server))
        (buffer (current-buffer)))
    (when (and framedex-recorded-lines buffer-file-name (framedex--server-p server))
      (jsonrpc-async-request
       server :framedex/recordedLines (list :textDocument (framedex--document))
       :success-fn (lambda (found)
                     (when (buffer-live-p buffer)
                       (with-current-buffer buffer
                         (framedex-recorded--draw
                          (mapcar (lambda (each) (plist-get each :line)) (plist-get found :lines))))))
       :error-fn #'ignore))))

(defun framedex-recorded--refresh-all ()
  "Mark the recorded lines of every buffer."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and buffer-file-name (eglot-current-server)) (framedex-recorded--refresh)))))

(defun framedex-recorded--managed ()
  "Mark the lines of a buffer that eglot starts to manage.
Take the marks away where it has ended."
  (if (eglot-managed-p)
      (progn
        (framedex-recorded--refresh)
        (add-hook 'after-save-hook #'framedex-recorded--refresh nil t))
    (remove-hook 'after-save-hook #'framedex-recorded--refresh t)
    (remove-overlays (point-min) (point-max) 'framedex-recorded t)))

(add-hook 'eglot-managed-mode-hook #'framedex-recorded--managed)
(add-hook 'framedex-index-changed-hook #'framedex-recorded--refresh-all)

(provide 'framedex-recorded)
;;; framedex-recorded.el ends here
